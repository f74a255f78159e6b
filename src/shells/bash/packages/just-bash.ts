export { Bash, defineCommand } from 'just-bash'
