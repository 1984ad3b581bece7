/** Lint rules of this project that oxlint itself does not have. `oxlint.config.ts` says where they apply. */
import { posix, relative } from 'node:path'

/** `src/relay/admit.ts` → `relay`, `sandbox/frames.ts` → `sandbox`; a file directly in src/ → `root`. */
function roomOf(path) {
  const [top, room, file] = path.split('/')
  if (top !== 'src') return top
  return file === undefined ? 'root' : room
}

/** Takes the table of rooms as its option and compares each import of a file with it. */
const layers = {
  meta: { schema: false },
  create(context) {
    const path = relative(context.cwd, context.filename)
    const room = roomOf(path)
    const layer = context.options[0][room]
    function check(node, source) {
      if (typeof source?.value !== 'string' || !source.value.startsWith('.')) return
      const target = posix.join(posix.dirname(path), source.value)
      const targetRoom = roomOf(target)
      if (target === 'package.json' || targetRoom === room || targetRoom === 'base') return
      if (layer.mayImport.includes(targetRoom)) return
      const message = `${room} may not import ${target} (${targetRoom}), because ${layer.because}.`
      context.report({ node, message })
    }
    if (layer === undefined) {
      return {
        Program: (node) =>
          context.report({
            node,
            message: `The table of rooms in oxlint.config.ts lacks ${room}.`,
          }),
      }
    }
    return {
      ImportDeclaration: (node) => check(node, node.source),
      ImportExpression: (node) => check(node, node.source),
      ExportAllDeclaration: (node) => check(node, node.source),
      ExportNamedDeclaration: (node) => check(node, node.source),
      TSImportType: (node) => check(node, node.source),
      // Workers are named by address.
      NewExpression(node) {
        if (node.callee.name === 'URL') check(node, node.arguments[0])
      },
    }
  },
}

/** Words that the glossary does not use, and the word to use instead. */
const otherWords = new Map([
  ['tenant', 'account'],
  ['customer', 'account'],
  ['wallet', 'account'],
  ['provider', 'vendor'],
  ['backend', 'channel'],
  ['downstream', 'client'],
  ['preconsume', 'hold'],
  ['postconsume', 'settle'],
  ['consumption', 'usage'],
])

function wordsOf(identifier) {
  return identifier
    .replaceAll(/([a-z0-9])([A-Z])/g, '$1_$2')
    .toLowerCase()
    .split(/[_$]+/)
}

/** A library's name that is imported under another one. */
function isRenamedImport({ name, parent }) {
  return (
    parent?.type === 'ImportSpecifier' &&
    parent.imported.name === name &&
    parent.local.name !== name
  )
}

const vocabulary = {
  create: (context) => ({
    Identifier(node) {
      if (isRenamedImport(node)) return
      for (const word of wordsOf(node.name)) {
        const better = otherWords.get(word) ?? otherWords.get(word.replace(/s$/, ''))
        if (better !== undefined)
          context.report({ node, message: `Use the word ${better} instead of ${word}.` })
      }
    },
  }),
}

/**
 * `thing.onEnd = () => …`: V8 takes a function that is assigned to a property for a method that stays, and
 * allocates it among the old objects. All that it reaches then lives until the next full collection.
 */
const noAssignedFunction = {
  create: (context) => ({
    AssignmentExpression(node) {
      if (node.left.type !== 'MemberExpression') return
      if (!/^(Arrow)?FunctionExpression$/.test(node.right.type)) return
      const message =
        'A function assigned to a property keeps its exchange in memory. Assign an object with methods.'
      context.report({ node, message })
    },
  }),
}

/** Wider than the code, which is formatted to 100: a table or an example may need a little more. */
const commentWidthMax = 110

/** The formatter leaves comments as they are. */
const commentWidth = {
  create: (context) => ({
    Program() {
      const { lines } = context.sourceCode
      for (const { loc } of context.sourceCode.getAllComments()) {
        const widths = lines.slice(loc.start.line - 1, loc.end.line - 1).map(({ length }) => length)
        if (Math.max(...widths, loc.end.column) > commentWidthMax)
          context.report({ loc, message: `Wrap the comment at ${commentWidthMax} characters.` })
      }
    },
  }),
}

const plugin = {
  meta: { name: 'turnpike' },
  rules: {
    layers,
    vocabulary,
    'comment-width': commentWidth,
    'no-assigned-function': noAssignedFunction,
  },
}

export default plugin
