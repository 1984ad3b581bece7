/** The catalogue as a file: read, edit, look at the changes, apply them. */
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../api/session.ts'
import { Notice } from '../../ui/card.tsx'
import { Button } from '../../ui/button.tsx'
import { Failure, Loading } from '../../ui/states.tsx'
import { CatalogueEditor } from './catalogue-editor.tsx'
import { CatalogueCode } from './catalogue-code.tsx'
import { catalogueQuery, type CatalogueFile } from './queries.ts'
import { lineOfEntry } from './yaml-place.ts'

export function Catalogue() {
  const mayChange = useMay('owner')
  const { section, entry } = useSearch({ from: '/shell/models' })
  const { data, error, refetch } = useQuery(catalogueQuery)
  if (error !== null) return <Failure error={error} onRetry={() => void refetch()} />
  if (data === undefined) return <Loading rows={12} />
  const line =
    section === undefined || entry === undefined
      ? undefined
      : lineOfEntry(data.text, section, entry)
  if (mayChange) return <Versions current={data} line={line} />
  return (
    <>
      <Notice>Only an owner changes the catalogue. Credentials are hidden from your role.</Notice>
      <CatalogueCode label="Catalogue file" text={data.text} line={line} />
    </>
  )
}

interface VersionsProps {
  readonly current: CatalogueFile
  readonly line: number | undefined
}

/** Edits go on upon the file with which they began, also when another operator changes it meanwhile. */
function Versions({ current, line }: VersionsProps) {
  const [base, setBase] = useState(current)
  const [text, setText] = useState(current.text)
  const isEdited = text !== base.text
  if (!isEdited && base.tag !== current.tag) {
    setBase(current)
    setText(current.text)
  }
  return (
    <>
      {isEdited && base.tag !== current.tag && (
        <Notice tone="warn">
          <div className="stack">
            Another operator has changed the catalogue since you began to edit. Your edits cannot be
            applied to the new one; copy them before you load it.
            <div>
              <Button
                onClick={() => {
                  setBase(current)
                  setText(current.text)
                }}
              >
                Load again, without my edits
              </Button>
            </div>
          </div>
        </Notice>
      )}
      <CatalogueEditor
        // A plan and a refusal hold for one file only.
        key={base.tag}
        base={base}
        text={text}
        onText={setText}
        line={line}
      />
    </>
  )
}
