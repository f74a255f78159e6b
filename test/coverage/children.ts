// From here on, every process and thread that a test starts records its coverage. The process of the tests has already
// started, and vitest measures it.
process.env.NODE_V8_COVERAGE = process.env.WARDSPACE_CHILD_COVERAGE
