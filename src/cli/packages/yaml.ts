export { type Document, isNode, LineCounter, parseDocument } from 'yaml'
