import { Buffer } from './buffer.js'

/**
 * @typedef {{ depth?: number | null, breakLength?: number }} InspectOptions
 *
 * @typedef {object} State
 * @property {InspectOptions} options
 * @property {number} maxDepth
 * @property {number} width
 * @property {object[]} ancestors the objects around the one that is shown, to detect circles
 *
 * @typedef {object} Shape how an object is shown, before its items
 * @property {string} prefix
 * @property {boolean} [isList]
 * @property {PropertyKey[]} keys
 * @property {string} [text] the complete text, for an object that shows no items
 */

const custom = Symbol.for('nodejs.util.inspect.custom')

/**
 * Node's `util.inspect`: the same text for what scripts usually print.
 *
 * @param {unknown} value
 * @param {unknown} [options]
 * @param {number} [legacyDepth]
 * @returns {string}
 */
export function inspect(value, options, legacyDepth) {
  const settings = /** @type {InspectOptions} */ (
    typeof options === 'object' && options !== null ? options : { depth: legacyDepth }
  )
  const { depth = 2, breakLength = 72 } = settings
  const maxDepth = depth === null ? Number.POSITIVE_INFINITY : depth
  return show({ options: settings, maxDepth, width: breakLength, ancestors: [] }, value, 0, '')
}
inspect.custom = custom

/**
 * @param {State} state
 * @param {unknown} value
 * @param {number} depth
 * @param {string} indent
 * @returns {string}
 */
function show(state, value, depth, indent) {
  if (value === null || (typeof value !== 'object' && typeof value !== 'function')) return showPrimitive(value)
  if (state.ancestors.includes(value)) return '[Circular *1]'
  const toText = /** @type {{ [custom]?: unknown }} */ (value)[custom]
  if (typeof toText === 'function' && toText !== inspect) {
    const replacement = toText.call(value, state.maxDepth - depth, state.options, inspect)
    return typeof replacement === 'string' ? replacement : show(state, replacement, depth, indent)
  }
  if (value instanceof Number || value instanceof String || value instanceof Boolean) {
    return `[${constructorName(value)}: ${showPrimitive(value.valueOf())}]`
  }
  const { prefix, isList = false, keys, text } = shapeOf(value)
  if (text !== undefined) return text
  if (depth > state.maxDepth) return isList ? '[Array]' : `[${prefix.replace(/\(\d+\) $/, '').trim() || 'Object'}]`
  state.ancestors.push(value)
  const items = itemsOf(state, value, isList, keys, depth + 1, `${indent}  `)
  state.ancestors.pop()
  return layOut(items, prefix, isList, indent, state.width)
}

/** @param {unknown} value */
function showPrimitive(value) {
  if (typeof value === 'string') return quote(value)
  if (typeof value === 'bigint') return `${value}n`
  return Object.is(value, -0) ? '-0' : String(value)
}

/** @param {string} text */
function quote(text) {
  const mark = text.includes("'") && !text.includes('"') ? '"' : "'"
  const plain = JSON.stringify(text).slice(1, -1).replace(/\\"/g, '"')
  return mark + (mark === "'" ? plain.replace(/'/g, "\\'") : plain) + mark
}

/** @param {PropertyKey} key */
function showKey(key) {
  if (typeof key === 'symbol') return `[${String(key)}]`
  const name = String(key)
  return /^[A-Za-z_$][\w$]*$/.test(name) ? name : quote(name)
}

/**
 * @param {object} value
 * @returns {string | null}
 */
function constructorName(value) {
  for (let proto = Object.getPrototypeOf(value); proto; proto = Object.getPrototypeOf(proto)) {
    if (Object.hasOwn(proto, 'constructor') && typeof proto.constructor === 'function') return proto.constructor.name
  }
  return null
}

/**
 * Returns the enumerable symbols of an object.
 *
 * @param {object} value
 */
export function enumerableSymbols(value) {
  return Object.getOwnPropertySymbols(value).filter((key) => Object.prototype.propertyIsEnumerable.call(value, key))
}

/**
 * @param {object} value
 * @returns {Shape}
 */
function shapeOf(value) {
  /** @type {PropertyKey[]} */
  const keys = [...Object.keys(value), ...enumerableSymbols(value)]
  const name = constructorName(value)
  if (Array.isArray(value)) return { prefix: name === 'Array' ? '' : `${name}(${value.length}) `, isList: true, keys }
  if (value instanceof Error) return errorShape(value, keys)
  if (typeof value === 'function') return labelled(functionLabel(value, name), keys)
  if (value instanceof RegExp) return labelled(String(value), keys)
  if (value instanceof Date) {
    return labelled(Number.isNaN(value.getTime()) ? 'Invalid Date' : value.toISOString(), keys)
  }
  if (value instanceof Map) return { prefix: `Map(${value.size}) `, keys }
  if (value instanceof Set) return { prefix: `Set(${value.size}) `, keys }
  if (value instanceof Promise) return { prefix: '', keys, text: 'Promise { <pending> }' }
  if (value instanceof Buffer) return { prefix: '', keys, text: bufferText(value) }
  if (ArrayBuffer.isView(value) && !(value instanceof DataView)) {
    return { prefix: `${name}(${/** @type {Uint8Array} */ (value).length}) `, isList: true, keys }
  }
  if (name === null) return { prefix: '[Object: null prototype] ', keys }
  return { prefix: name === 'Object' ? '' : `${name} `, keys }
}

/**
 * The shape of an object that shows as a label, followed by its properties if it has any.
 *
 * @param {string} label
 * @param {PropertyKey[]} keys
 * @returns {Shape}
 */
function labelled(label, keys) {
  return keys.length === 0 ? { prefix: '', keys, text: label } : { prefix: `${label} `, keys }
}

/**
 * @param {Error} error
 * @param {PropertyKey[]} keys
 */
function errorShape(error, keys) {
  // Frames of the guest itself and of the engine are left out.
  const frames = String(error.stack ?? '')
    .split('\n')
    .filter((line) => line !== '' && !/\((<\w+>[:)]|native\))|at <eval> \(\S*<main>/.test(line))
    .join('\n')
  const title = (error.name || 'Error') + (error.message ? `: ${error.message}` : '')
  const shown = keys.filter((key) => key !== 'stack' && key !== 'message')
  if (error.cause !== undefined && !shown.includes('cause')) shown.push('cause')
  return labelled(frames ? `${title}\n${frames}` : `[${title}]`, shown)
}

/**
 * @param {Function} value
 * @param {string | null} kind
 */
function functionLabel(value, kind) {
  if (/^class\b/.test(Function.prototype.toString.call(value))) return `[class ${value.name || '(anonymous)'}]`
  const name = value.name ? `: ${value.name}` : ' (anonymous)'
  return `[${kind === 'AsyncFunction' ? 'AsyncFunction' : 'Function'}${name}]`
}

/** @param {Buffer} buffer */
function bufferText(buffer) {
  const bytes = Array.from(buffer.subarray(0, 50), (byte) => ` ${byte.toString(16).padStart(2, '0')}`)
  const more = buffer.length > 50 ? ` ... ${buffer.length - 50} more byte${buffer.length > 51 ? 's' : ''}` : ''
  return `<Buffer${bytes.join('')}${more}>`
}

/**
 * @param {State} state
 * @param {object} value
 * @param {boolean} isList
 * @param {PropertyKey[]} keys
 * @param {number} depth
 * @param {string} indent
 */
function itemsOf(state, value, isList, keys, depth, indent) {
  /** @type {string[]} */
  const items = []
  if (isList) items.push(...listItems(state, /** @type {unknown[]} */ (value), depth, indent))
  else if (value instanceof Map) {
    for (const [key, inner] of value) {
      items.push(`${show(state, key, depth, indent)} => ${show(state, inner, depth, indent)}`)
    }
  } else if (value instanceof Set) {
    for (const inner of value) items.push(show(state, inner, depth, indent))
  }
  for (const key of keys) {
    if (isList && typeof key !== 'symbol' && /^\d+$/.test(String(key))) continue
    const property = Object.getOwnPropertyDescriptor(value, key)
    const text = property?.get
      ? property.set
        ? '[Getter/Setter]'
        : '[Getter]'
      : property?.set
        ? '[Setter]'
        : show(state, /** @type {Record<PropertyKey, unknown>} */ (value)[key], depth, indent)
    items.push(`${showKey(key)}: ${text}`)
  }
  return items
}

/**
 * The first 100 elements of a list; holes are counted together.
 *
 * @param {State} state
 * @param {unknown[]} list
 * @param {number} depth
 * @param {string} indent
 */
function listItems(state, list, depth, indent) {
  /** @type {string[]} */
  const items = []
  for (let i = 0; i < list.length && i < 100; i++) {
    if (i in list) {
      items.push(show(state, list[i], depth, indent))
      continue
    }
    let holes = 1
    while (i + 1 < list.length && !(i + 1 in list)) {
      i++
      holes++
    }
    items.push(`<${holes} empty item${holes > 1 ? 's' : ''}>`)
  }
  if (list.length > 100) items.push(`... ${list.length - 100} more item${list.length > 101 ? 's' : ''}`)
  return items
}

/**
 * Puts items on one line if they fit, short items of a long list in columns, and others on a line each.
 *
 * @param {string[]} items
 * @param {string} prefix
 * @param {boolean} isList
 * @param {string} indent
 * @param {number} width
 */
function layOut(items, prefix, isList, indent, width) {
  const [open, close] = isList ? ['[', ']'] : ['{', '}']
  if (items.length === 0) return prefix + open + close
  const length = items.reduce((sum, item) => sum + item.length + 2, 0)
  const isLong = isList && items.length > 6
  if (!isLong && length + prefix.length <= width && items.every((item) => !item.includes('\n'))) {
    return `${prefix}${open} ${items.join(', ')} ${close}`
  }
  const isNarrow = isLong && items.every((item) => item.length <= 6)
  const lines = isNarrow ? columns(items) : items.map((item, i) => (i < items.length - 1 ? `${item},` : item))
  return `${prefix}${open}\n${indent}  ${lines.join(`\n${indent}  `)}\n${indent}${close}`
}

/** @param {string[]} items */
function columns(items) {
  /** @type {string[]} */
  const rows = []
  const size = Math.max(...items.map((item) => item.length)) + 2
  const perRow = Math.max(1, Math.min(16, Math.floor(Math.sqrt(2.5 * size * items.length) / size)))
  const areNumbers = items.every((item) => /^-?[\d.]+n?$/.test(item))
  for (let start = 0; start < items.length; start += perRow) {
    const cells = items.slice(start, start + perRow).map((item, i, row) => {
      const cell = item + (start + i < items.length - 1 ? ',' : '')
      if (areNumbers) return cell.padStart(size - 1)
      return i === row.length - 1 ? cell : cell.padEnd(size - 1)
    })
    rows.push(cells.join(' ').replace(/ +$/, ''))
  }
  return rows
}

/**
 * Node's `util.format`: fills the placeholders of a first text; further values follow it.
 *
 * @param {unknown[]} args
 */
export function format(...args) {
  if (args.length === 0) return ''
  const [first, ...values] = args
  const text = typeof first === 'string' ? fill(first, values) : inspect(first)
  return [text, ...values.map((value) => (typeof value === 'string' ? value : inspect(value)))].join(' ')
}

/**
 * Replaces the placeholders of a text by values, which it takes from the list.
 *
 * @param {string} text
 * @param {unknown[]} values
 */
function fill(text, values) {
  return text.replace(/%[sdifjoOc%]/g, (placeholder) => {
    if (placeholder === '%%') return '%'
    if (values.length === 0) return placeholder
    const value = values.shift()
    switch (placeholder) {
      case '%s':
        if (typeof value === 'object' && value !== null) return inspect(value, { depth: 0 })
        return Object.is(value, -0) ? '-0' : String(value) + (typeof value === 'bigint' ? 'n' : '')
      case '%d':
        return typeof value === 'object' ? 'NaN' : String(Number(value))
      case '%i':
        return String(Number.parseInt(String(value), 10))
      case '%f':
        return String(Number.parseFloat(String(value)))
      case '%j':
        return JSON.stringify(value)
      case '%c':
        return ''
      default:
        return inspect(value)
    }
  })
}
