// From here on, every process and every thread that a test starts writes down what it ran. The tests' own process has
// started already, and is measured by vitest.
process.env.NODE_V8_COVERAGE = process.env.WARDSPACE_CHILD_COVERAGE
