export { newQuickJSAsyncWASMModule } from 'quickjs-emscripten'
