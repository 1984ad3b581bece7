/**
 * The catalogue file in an editor for YAML: colours, folding, search, completion, and mistakes where they
 * are. This module and what it imports are a chunk of scripts that is loaded when the file is opened.
 */
import { autocompletion, completionKeymap } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import {
  bracketMatching,
  codeFolding,
  foldGutter,
  foldKeymap,
  HighlightStyle,
  indentOnInput,
  indentService,
  syntaxHighlighting,
} from '@codemirror/language'
import { linter, lintKeymap, type Diagnostic } from '@codemirror/lint'
import { highlightSelectionMatches, search, searchKeymap } from '@codemirror/search'
import { EditorState, type Extension, type Text } from '@codemirror/state'
import { EditorView, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { useEffect, useImperativeHandle, useRef, type Ref, type RefObject } from 'react'
import { completionsAt } from './code-completion.ts'
import type { CatalogueFieldsAnswer } from './queries.ts'

export interface Mistake {
  readonly line: number
  readonly column: number
  /** Such as `channels.alpha-main.url`; empty for the file as a whole. */
  readonly path: string
  readonly message: string
}

export interface CodeHandle {
  /** Puts the cursor there and the line into view; both count from 1. */
  readonly goTo: (line: number, column?: number) => void
}

export interface CodeEditorProps {
  readonly label: string
  readonly text: string
  /** Without it the text is only read. */
  readonly onText?: (text: string) => void
  /** Finds the mistakes of a text; asked after each pause. */
  readonly check?: (text: string) => Promise<readonly Mistake[]>
  /** Undefined until they are read. */
  readonly fields?: CatalogueFieldsAnswer | undefined
  /** The line to begin with. */
  readonly line?: number | undefined
  readonly handle?: Ref<CodeHandle>
}

export function CodeEditor(props: CodeEditorProps) {
  const { text, line, handle } = props
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  // It must not make the editor anew.
  const latest = useRef(props)
  useEffect(() => {
    latest.current = props
  })
  useEffect(() => {
    if (host.current === null) return undefined
    // The page allows no styles in elements; a shadow root takes them as sheets.
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' })
    const made = new EditorView({ root, parent: root, state: editorState(latest) })
    view.current = made
    return () => made.destroy()
  }, [])
  useEffect(() => {
    const { current } = view
    if (current === null || current.state.doc.toString() === text) return
    current.dispatch({ changes: { from: 0, to: current.state.doc.length, insert: text } })
  }, [text])
  useEffect(() => {
    if (view.current !== null && line !== undefined) goTo(view.current, line, 1)
  }, [line])
  useImperativeHandle(handle, () => ({
    goTo(at, column = 1) {
      if (view.current !== null) goTo(view.current, at, column)
    },
  }))
  return <div ref={host} className="models-code" />
}

/** A place and the end of its line; line and column count from 1. */
function spanOf(doc: Text, line: number, column: number) {
  const { from, to } = doc.line(Math.min(Math.max(line, 1), doc.lines))
  return { from, to, start: Math.min(from + column - 1, to) }
}

function goTo(view: EditorView, line: number, column: number): void {
  const { from, to, start } = spanOf(view.state.doc, line, column)
  view.dispatch({
    selection: { anchor: start, head: to },
    effects: EditorView.scrollIntoView(from, { y: 'start', yMargin: 48 }),
  })
  view.focus()
}

/** What the editor calls must be the newest. */
type Latest = RefObject<CodeEditorProps>

/** A gateway answers a check of a large catalogue within a tenth of that. */
const pauseMs = 700

function editorState(latest: Latest): EditorState {
  const { text, label, onText } = latest.current
  return EditorState.create({
    doc: text,
    extensions: [
      lineNumbers(),
      codeFolding(),
      foldGutter(),
      history(),
      yaml(),
      syntaxHighlighting(colours),
      bracketMatching(),
      indentOnInput(),
      belowKeys,
      search({ top: true }),
      highlightSelectionMatches(),
      EditorState.tabSize.of(2),
      EditorState.readOnly.of(onText === undefined),
      EditorView.contentAttributes.of({ 'aria-label': label, spellcheck: 'false', tabindex: '0' }),
      onText === undefined ? [] : writing(latest),
      keymap.of([
        ...completionKeymap,
        ...searchKeymap,
        ...lintKeymap,
        ...foldKeymap,
        ...historyKeymap,
        ...defaultKeymap,
      ]),
      look,
    ],
  })
}

function writing(latest: Latest): Extension {
  return [
    autocompletion({
      override: [(context) => completionsAt(context, latest.current.fields)],
      icons: false,
    }),
    linter(
      async ({ state: { doc } }) =>
        ((await latest.current.check?.(doc.toString())) ?? []).map((one) => diagnosticOf(one, doc)),
      { delay: pauseMs },
    ),
    replaceTyped,
    EditorView.updateListener.of(({ docChanged, state }) => {
      if (docChanged) latest.current.onText?.(state.doc.toString())
    }),
  ]
}

/** A line that follows `key:` belongs to the key, also where the key has others already. */
const belowKeys = indentService.of((context, position) => {
  const { text } = context.lineAt(position, -1)
  return /:\s*$/.test(text) ? text.length - text.trimStart().length + context.unit : undefined
})

/**
 * Chromium keeps the colour of text that is typed over in a style attribute, which the policy of the page
 * forbids; so the editor replaces a selection by itself.
 */
const replaceTyped = EditorView.domEventHandlers({
  beforeinput({ inputType, data }, view) {
    const isReplacing = inputType === 'insertText' && !view.state.selection.main.empty
    if (!isReplacing || data === null || view.composing) return false
    view.dispatch(view.state.replaceSelection(data), {
      userEvent: 'input.type',
      scrollIntoView: true,
    })
    return true
  },
})

/** From the place of a mistake to the end of its line. */
function diagnosticOf({ line, column, path, message }: Mistake, doc: Text): Diagnostic {
  const { from, to, start } = spanOf(doc, line, column)
  return {
    from: start < to ? start : from,
    to,
    severity: 'error',
    message: path === '' ? message : `${path}: ${message}`,
  }
}

const colours = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName)], color: 'var(--accent)' },
  { tag: [tags.string, tags.attributeValue], color: 'var(--good)' },
  { tag: [tags.keyword, tags.labelName, tags.typeName], color: 'var(--warn)' },
  { tag: [tags.comment, tags.lineComment, tags.meta], color: 'var(--text-soft)' },
  { tag: tags.invalid, color: 'var(--bad)' },
])

const textFont = '400 13px/1.45 var(--font)'
const field = {
  padding: '4px 8px',
  border: '1px solid var(--line-strong)',
  borderRadius: '6px',
  background: 'var(--surface)',
  color: 'var(--text)',
  font: textFont,
}
const sunken = { backgroundColor: 'var(--surface-sunken)', color: 'var(--text-soft)' }
const accented = { backgroundColor: 'var(--accent-soft)' }
const raised = {
  border: '1px solid var(--line)',
  borderRadius: '8px',
  backgroundColor: 'var(--surface-raised)',
  color: 'var(--text)',
  boxShadow: 'var(--shadow-raised)',
  maxWidth: 'min(420px, 90vw)',
}

/** By the names of tokens.css, which reach into the shadow root. */
const look = EditorView.theme({
  '&': { height: '100%', color: 'var(--text)', fontSize: '12.5px' },
  '&.cm-focused': { outline: 'none' },
  '.cm-scroller': { fontFamily: 'var(--font-code)', lineHeight: '1.6' },
  '.cm-content': { padding: '12px 0 28px', caretColor: 'var(--text)' },
  '.cm-line': { padding: '0 14px 0 8px' },
  '.cm-gutters': { ...sunken, borderRight: '1px solid var(--line)' },
  '.cm-gutterElement span': { cursor: 'pointer' },
  '.cm-foldPlaceholder': { ...sunken, border: '1px solid var(--line-strong)' },
  '.cm-selectionMatch': accented,
  '.cm-searchMatch': { backgroundColor: 'var(--warn-soft)', outline: '1px solid var(--warn)' },
  '.cm-searchMatch-selected': accented,
  '&.cm-focused .cm-matchingBracket': accented,
  '&.cm-focused .cm-nonmatchingBracket': { backgroundColor: 'var(--bad-soft)' },
  // In place of pictures in the sheets, which the page does not allow.
  '.cm-lintRange-error': {
    backgroundImage: 'none',
    textDecoration: 'underline wavy var(--bad)',
    textUnderlineOffset: '3px',
  },
  '.cm-lintPoint::after': { borderBottomColor: 'var(--bad) !important' },
  '.cm-panels': { ...sunken, color: 'var(--text)', fontFamily: 'var(--font)' },
  '.cm-panels-top': { borderBottom: '1px solid var(--line)' },
  '.cm-panel.cm-search': { padding: '8px 34px 8px 12px' },
  '.cm-panel.cm-search .cm-textfield': { ...field, maxWidth: '100%' },
  '.cm-panel.cm-search label': { fontSize: '13px' },
  '.cm-panel.cm-search button[name=close]': { top: '6px', right: '10px', color: 'inherit' },
  '.cm-button': { ...field, backgroundImage: 'none', cursor: 'pointer' },
  '.cm-tooltip': raised,
  '.cm-tooltip.cm-tooltip-autocomplete > ul': { font: '400 12.5px/1.5 var(--font-code)' },
  '.cm-tooltip.cm-tooltip-autocomplete > ul > li[aria-selected]': {
    backgroundColor: 'var(--accent)',
    color: 'var(--on-accent)',
  },
  '.cm-completionDetail': { color: 'inherit', fontStyle: 'normal', opacity: '0.75' },
  '.cm-completionInfo': { padding: '8px 12px', font: textFont },
  '.cm-diagnostic': { borderLeftColor: 'var(--bad)', font: textFont },
  '.cm-panel.cm-panel-lint ul [aria-selected]': accented,
})
