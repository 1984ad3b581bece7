/** Loads the editor of the catalogue file when it is first looked at; no other page needs its scripts. */
import { lazy, Suspense } from 'react'
import { Loading } from '../../ui/states.tsx'
import type { CodeEditorProps } from './code-editor.tsx'

const CodeEditor = lazy(() =>
  import('./code-editor.tsx').then((module) => ({ default: module.CodeEditor })),
)

export function CatalogueCode(props: CodeEditorProps) {
  return (
    <Suspense fallback={<Loading rows={12} />}>
      <CodeEditor {...props} />
    </Suspense>
  )
}
