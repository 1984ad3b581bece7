/** The catalogue as a file: read, edit, look at the changes, apply them. */
import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { useState } from 'react'
import { useMay } from '../../api/session.ts'
import { Notice } from '../../ui/card.tsx'
import { Button } from '../../ui/button.tsx'
import { Snippet } from '../../ui/copy.tsx'
import { Failure, Loading } from '../../ui/states.tsx'
import { CatalogueEditor } from './catalogue-editor.tsx'
import { CatalogueCode } from './catalogue-code.tsx'
import { mergeFiles, type MergedFile } from './merge-file.ts'
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

/** Edits go on upon the file with which they began, until the changes of another operator are taken in. */
function Versions({ current, line }: VersionsProps) {
  const [base, setBase] = useState(current)
  const [text, setText] = useState(current.text)
  const [merged, setMerged] = useState<MergedFile>()
  const isEdited = text !== base.text
  const begin = (next: string): void => {
    setBase(current)
    setText(next)
  }
  if (!isEdited && base.tag !== current.tag) {
    begin(current.text)
    setMerged(undefined)
  }
  return (
    <>
      {isEdited && base.tag !== current.tag && (
        <Changed
          onTake={() => {
            const both = mergeFiles({ base: base.text, mine: text, theirs: current.text })
            setMerged(both)
            begin(both.text)
          }}
          onDrop={() => begin(current.text)}
        />
      )}
      {isEdited && merged !== undefined && <Merged {...merged} />}
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

function Changed({ onTake, onDrop }: { onTake: () => void; onDrop: () => void }) {
  return (
    <Notice tone="warn">
      <div className="stack">
        Another operator has changed the catalogue since you began to edit. Take the changes into
        your text; what both of you have changed stays as you have it.
        <div className="row">
          <Button look="primary" onClick={onTake}>
            Take their changes
          </Button>
          <Button onClick={onDrop}>Load again, without my edits</Button>
        </div>
      </div>
    </Notice>
  )
}

/** The other operator's changes, and their version where both have changed a line. */
function Merged({ taken, clashes }: MergedFile) {
  return (
    <Notice tone={clashes.length > 0 ? 'warn' : 'neutral'}>
      {taken.length > 0 && <p>Taken from the other operator: {taken.join(', ')}.</p>}
      {clashes.map(({ entry, theirs }) => (
        <div key={entry} className="stack">
          <p>
            Both of you have changed <strong className="break">{entry}</strong>. Your text is kept;{' '}
            {theirs === '' ? 'they have removed it.' : 'theirs is:'}
          </p>
          {theirs !== '' && <Snippet text={theirs} label={`Their version of ${entry}`} />}
        </div>
      ))}
    </Notice>
  )
}
