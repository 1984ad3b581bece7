/**
 * The catalogue file in an editor for YAML: colours, folding, search, completion, and mistakes where they
 * are. This module and what it imports are a chunk of scripts that is loaded when the file is opened.
 */
import { EditorView } from '@codemirror/view'
import { useEffect, useImperativeHandle, useRef, type Ref } from 'react'
import { editorState, type Check, type EditorFacts } from './code-extensions.ts'

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
  readonly check?: Check
  readonly fields?: EditorFacts['fields']
  /** The line to begin with. */
  readonly line?: number | undefined
  readonly handle?: Ref<CodeHandle>
}

export function CodeEditor(props: CodeEditorProps) {
  const { text, line, handle } = props
  const host = useRef<HTMLDivElement>(null)
  const view = useRef<EditorView>(null)
  // What the editor calls must be the newest, and must not make the editor anew.
  const latest = useRef(props)
  useEffect(() => {
    latest.current = props
  })
  useEffect(() => {
    if (host.current === null) return undefined
    const { label, onText } = latest.current
    // The page allows no styles in elements; a shadow root takes them as sheets.
    const root = host.current.shadowRoot ?? host.current.attachShadow({ mode: 'open' })
    const made = new EditorView({
      root,
      parent: root,
      state: editorState(latest.current.text, {
        label,
        isReadOnly: onText === undefined,
        fields: () => latest.current.fields?.() ?? undefined,
        check: (given) => latest.current.check?.(given) ?? Promise.resolve([]),
        onText: (next) => latest.current.onText?.(next),
      }),
    })
    view.current = made
    if (latest.current.line !== undefined) goTo(made, latest.current.line, 1)
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

function goTo(view: EditorView, line: number, column: number): void {
  const { doc } = view.state
  const { from, to } = doc.line(Math.min(Math.max(line, 1), doc.lines))
  const anchor = Math.min(from + column - 1, to)
  view.dispatch({
    selection: { anchor, head: to },
    effects: EditorView.scrollIntoView(from, { y: 'start', yMargin: 48 }),
  })
  view.focus()
}
