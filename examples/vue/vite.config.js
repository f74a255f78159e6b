import vue from '@vitejs/plugin-vue'
import { defineConfig } from 'vite'

/** Vue leaves these tags to the browser, and sets their properties. */
const compilerOptions = { isCustomElement: (tag) => tag.startsWith('wardspace-') }

export default defineConfig({ plugins: [vue({ template: { compilerOptions } })], build: { target: 'es2022' } })
