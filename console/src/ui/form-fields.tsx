/** Kinds of fields that forms declare: `name: textField('Name')`. Their inputs are in `field.tsx`. */
import type { ComponentProps, ReactNode } from 'react'
import type { FormField } from './draft.ts'
import { AreaField, SelectField, TextField } from './field.tsx'

interface Options {
  readonly hint?: ReactNode
  readonly isRequired?: boolean
}

type TextOptions = Options & {
  readonly initial?: string
  readonly input?: Pick<
    ComponentProps<typeof TextField>,
    'autoComplete' | 'autoFocus' | 'inputMode' | 'placeholder' | 'spellCheck' | 'type' | 'unit'
  >
}

function ofText<Sent>(
  label: string,
  { initial = '', input, ...options }: TextOptions,
  send: (text: string) => Sent,
): FormField<string, Sent> {
  return {
    label,
    ...options,
    initial,
    read: textOf,
    send: (text) => send(text.trim()),
    input: (bound) => <TextField {...input} {...bound} />,
  }
}

function textOf(value: unknown): string {
  if (typeof value === 'string') return value
  return typeof value === 'number' ? String(value) : ''
}

export function textField(label: string, options: TextOptions = {}): FormField<string> {
  return ofText(label, options, (text) => text)
}

/** A text whose field the API knows as null where it is empty. */
function optionalField(label: string, options: TextOptions = {}): FormField<string, string | null> {
  return ofText(label, options, (text) => (text === '' ? null : text))
}

const money = { unit: '$', inputMode: 'decimal' } as const

/** An amount in USD, as decimal text. */
export function usdField(label: string, options: TextOptions = {}): FormField<string> {
  return ofText(label, { ...options, input: { ...money, ...options.input } }, (text) =>
    text.replace('−', '-'),
  )
}

/** A UTC day. */
export function dayField(
  label: string,
  options: TextOptions = {},
): FormField<string, string | null> {
  const field = optionalField(label, { ...options, input: { type: 'date' } })
  return { ...field, read: (value) => textOf(value).slice(0, 10) }
}

export function choiceField<Value extends string>(
  label: string,
  options: readonly (readonly [Value, string])[],
  { initial, ...others }: Options & { readonly initial: NoInfer<Value> },
): FormField<Value> {
  return {
    label,
    ...others,
    initial,
    read: (value) => options.find(([each]) => each === value)?.[0] ?? initial,
    send: (value) => value,
    input: (bound) => <SelectField {...bound} options={options} />,
  }
}

/** A text of several lines. */
export function textAreaField(
  label: string,
  { rows = 3, ...others }: Options & { readonly rows?: number } = {},
): FormField<string> {
  return {
    ...textField(label, others),
    input: (bound) => <AreaField {...bound} rows={rows} />,
  }
}

/** Texts, one on each line; null where there is none. */
export function linesField(
  label: string,
  { rows = 3, ...others }: Options & { readonly rows?: number } = {},
): FormField<string, readonly string[] | null> {
  return {
    label,
    ...others,
    initial: '',
    read: (value) => (Array.isArray(value) ? value.map(String).join('\n') : ''),
    send(text) {
      const lines = linesOf(text)
      return lines.length === 0 ? null : lines
    },
    input: (bound) => <AreaField {...bound} rows={rows} isCode />,
  }
}

export function linesOf(text: string): readonly string[] {
  return text
    .split('\n')
    .map((line) => line.trim())
    .filter((line) => line !== '')
}
