/** The offers of the editor of the catalogue file: keys with their meanings, and their values. */
import type { Completion, CompletionContext, CompletionResult } from '@codemirror/autocomplete'
import { t } from '../../messages/t.ts'
import { plainText, propertiesOf, type Field, type Section } from '../entries/entry.ts'
import { entryNames, placeAt } from './catalogue-text.ts'
import type { CatalogueFieldsAnswer } from './queries.ts'

type CatalogueFields = Pick<CatalogueFieldsAnswer, Section | 'schema'>
const sections: readonly Section[] = ['vendors', 'models', 'channels']

export function completionsAt(
  context: CompletionContext,
  fields: CatalogueFields | undefined,
): CompletionResult | null {
  if (fields === undefined) return null
  const text = context.state.doc.toString()
  const { path, isValue, word } = placeAt(text.slice(0, context.pos))
  if (word === '' && !context.explicit && !isValue) return null
  const options = offers({ path, isValue }, fields, text)
  return options.length === 0 ? null : { from: context.pos - word.length, options }
}

function offers(
  { path, isValue }: { readonly path: readonly string[]; readonly isValue: boolean },
  fields: CatalogueFields,
  text: string,
): readonly Completion[] {
  const [first, , key, ...inner] = path
  if (first === undefined) return sections.map((name) => keyOffer(name))
  const section = sections.find((name) => name === first)
  if (section === undefined || path.length < 2) return []
  if (key === undefined) return fields[section].map(fieldOffer)
  const field = fields[section].find((one) => one.key === key)
  if (field === undefined) return []
  const isItem = field.kind === 'models' || field.kind === 'choices'
  if (inner.length === 0 && (isValue || isItem)) return valuesOf(field, text)
  return isValue ? [] : propertiesOf(fields.schema, path).map((name) => keyOffer(name))
}

function keyOffer(key: string): Completion {
  return { label: key, apply: `${key}: `, type: 'property' }
}

function fieldOffer({ key, meaning, default_text: fallback, is_required: isRequired }: Field) {
  return {
    ...keyOffer(key),
    detail: isRequired ? 'required' : '',
    info: plainText(
      fallback === null
        ? meaning
        : t('entries.hintWithDefault', { hint: meaning, value: fallback }),
    ),
  }
}

function valuesOf({ kind, options }: Field, text: string): readonly Completion[] {
  const known: Readonly<Record<string, readonly string[]>> = {
    flag: ['true', 'false'],
    vendor: entryNames(text, 'vendors'),
    models: entryNames(text, 'models'),
  }
  return (known[kind] ?? options ?? []).map((label) => ({ label, type: 'value' }))
}
