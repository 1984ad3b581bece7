/**
 * Leaves texts to people unchanged: a literal in which a space separates two words is a sentence. Its
 * words may change without a promise being broken. A name, a code and a separator are no sentences.
 */
import { declareValuePlugin, PluginKind } from '@stryker-mutator/api/plugin'

const sentence = /\S \S/

function textOf({ type, value, quasis }) {
  if (type === 'StringLiteral') return value
  return type === 'TemplateLiteral' ? quasis.map((part) => part.value.raw).join('x') : ''
}

const people = {
  shouldIgnore: ({ node }) => (sentence.test(textOf(node)) ? 'a text to people' : undefined),
}

export const strykerPlugins = [declareValuePlugin(PluginKind.Ignore, 'people', people)]
