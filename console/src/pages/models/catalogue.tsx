/** The catalogue as a file: read it, edit it, look at the changes, apply them. */
import { useMutation, useQuery, useQueryClient, type QueryClient } from '@tanstack/react-query'
import { useBlocker, useSearch } from '@tanstack/react-router'
import { Download, RotateCcw } from 'lucide-react'
import { lazy, Suspense, useRef, useState } from 'react'
import { useMay } from '../../api/session.ts'
import { reworded, t } from '../../messages/t.ts'
import { Problem } from '../../problem.ts'
import { Button } from '../../ui/button.tsx'
import { Card, Notice } from '../../ui/card.tsx'
import { Snippet } from '../../ui/copy.tsx'
import { saveFile } from '../../ui/csv.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { Row, Split, Stack } from '../../ui/layout.tsx'
import { isOutdated } from '../../ui/outdated.tsx'
import { describeFailure, Loading, Shown } from '../../ui/states.tsx'
import { announce } from '../../ui/toast.tsx'
import { DiffList, entryName, summaryOf } from '../entries/changes.tsx'
import { changedByCatalogue } from '../entries/requests.ts'
import { lineOfEntry, mergeFiles, type MergedFile } from './catalogue-text.ts'
import type { CodeEditorProps, CodeHandle, Mistake } from './code-editor.tsx'
import {
  catalogueQuery,
  fieldsQuery,
  sendCatalogue,
  type CatalogueFile,
  type CatalogueResult,
} from './queries.ts'

/** Its scripts are loaded when the file is first looked at; no other page needs them. */
const CodeEditor = lazy(() =>
  import('./code-editor.tsx').then((module) => ({ default: module.CodeEditor })),
)

function Code(props: Omit<CodeEditorProps, 'label'>) {
  return (
    <Suspense fallback={<Loading rows={12} />}>
      <CodeEditor {...props} label={t('models.tabs.catalogue')} />
    </Suspense>
  )
}

export function Catalogue() {
  const mayChange = useMay('owner')
  const { section = '', entry = '' } = useSearch({ from: '/shell/models' })
  return (
    <Shown query={useQuery(catalogueQuery)} rows={12}>
      {(file) => {
        const line = lineOfEntry(file.text, section, entry)
        if (mayChange) return <Versions current={file} line={line} />
        return (
          <>
            <Notice>{t('models.file.ownersOnly')}</Notice>
            <Code text={file.text} line={line} />
          </>
        )
      }}
    </Shown>
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
  const begin = (next: string, both?: MergedFile): void => {
    setBase(current)
    setText(next)
    setMerged(both)
  }
  const isChanged = base.tag !== current.tag
  if (!isEdited && isChanged) begin(current.text)
  const take = (): void => {
    const both = mergeFiles({ base: base.text, mine: text, theirs: current.text })
    begin(both.text, both)
  }
  return (
    <>
      <LeaveGuard isEdited={isEdited} />
      {isEdited && isChanged && (
        <Notice tone="warn">
          <Stack>
            {t('models.file.changedMeanwhile')}
            <Row>
              <Button look="primary" onClick={take}>
                {t('models.file.take')}
              </Button>
              <Button onClick={() => begin(current.text)}>{t('models.file.drop')}</Button>
            </Row>
          </Stack>
        </Notice>
      )}
      {isEdited && merged !== undefined && <Merged {...merged} />}
      {/* A plan and a refusal hold for one file only. */}
      <Editor key={base.tag} base={base} text={text} onText={setText} line={line} />
    </>
  )
}

/** The other operator's changes, and their version where both have changed an entry. */
function Merged({ taken, clashes }: MergedFile) {
  return (
    <Notice tone={clashes.length > 0 ? 'warn' : 'neutral'}>
      {taken.length > 0 && <p>{t('models.file.taken', { entries: taken.join(', ') })}</p>}
      {clashes.map(({ entry, theirs }) => (
        <Stack key={entry}>
          <p>
            {t('models.file.clash', { entry })}{' '}
            {t(theirs === '' ? 'models.file.theyRemoved' : 'models.file.theirsIs')}
          </p>
          {theirs !== '' && <Snippet text={theirs} label={t('models.file.theirs', { entry })} />}
        </Stack>
      ))}
    </Notice>
  )
}

interface EditorProps {
  readonly base: CatalogueFile
  readonly text: string
  readonly onText: (text: string) => void
  /** The line of the entry asked for. */
  readonly line: number | undefined
}

function Editor({ base, text, onText, line }: EditorProps) {
  const client = useQueryClient()
  const editor = useRef<CodeHandle>(null)
  const { data: fields } = useQuery(fieldsQuery)
  const isEdited = text !== base.text
  const planning = useMutation({
    mutationFn: () => sendCatalogue(text, base, true),
    onError: (error) => readAgain(client, error),
  })
  const change = (next: string): void => {
    onText(next)
    planning.reset()
  }
  const { data: plan, error } = planning
  const goTo = ({ line: at, column }: Mistake): void => editor.current?.goTo(at, column)
  return (
    <>
      <Split>
        <p className="soft" role="status">
          {t(isEdited ? 'models.file.edited' : 'models.file.applied')}
        </p>
        <Row>
          <Button onClick={() => saveFile('catalogue.yaml', text, 'application/yaml')}>
            <Download aria-hidden /> {t('models.file.download')}
          </Button>
          <Button disabled={!isEdited} onClick={() => change(base.text)}>
            <RotateCcw aria-hidden /> {t('models.file.discard')}
          </Button>
          <Button
            look={plan === undefined ? 'primary' : 'plain'}
            disabled={!isEdited}
            isBusy={planning.isPending}
            onClick={() => planning.mutate()}
          >
            {t('entries.showChanges')}
          </Button>
        </Row>
      </Split>
      {error !== null && <Refusal error={error} onGoTo={goTo} />}
      {plan !== undefined && (
        <Apply
          plan={plan}
          send={() => sendCatalogue(text, base, false)}
          onGoTo={goTo}
          // The applied text is no edit any more; the gateway prints it in its own order.
          onApplied={() => change(base.text)}
        />
      )}
      <Code
        text={text}
        line={line}
        handle={editor}
        onText={change}
        fields={fields}
        check={async (given) => (given === base.text ? [] : findMistakes(given, base))}
      />
    </>
  )
}

/** Reads the catalogue again where another operator has changed it, so that the page offers to take it. */
function readAgain(client: QueryClient, error: unknown): void {
  if (isOutdated(error)) void client.invalidateQueries({ queryKey: catalogueQuery.queryKey })
}

/** Asks the gateway about a text that is being written. Writes nothing. */
function findMistakes(text: string, base: CatalogueFile): Promise<readonly Mistake[]> {
  return sendCatalogue(text, base, true).then(() => [], mistakesOf)
}

function mistakesOf(error: unknown): readonly Mistake[] {
  const found = error instanceof Problem ? error.mistakes.filter(isMistake) : []
  return found.map((mistake) => ({ ...mistake, message: reworded(mistake.message) }))
}

function isMistake(value: unknown): value is Mistake {
  return typeof value === 'object' && value !== null && 'line' in value && 'message' in value
}

interface RefusalProps {
  readonly error: Error
  readonly onGoTo: (mistake: Mistake) => void
}

/** Why nothing is applied; each mistake that the gateway found in the file leads to its line. */
function Refusal({ error, onGoTo }: RefusalProps) {
  const mistakes = mistakesOf(error)
  if (mistakes.length === 0)
    return (
      <Notice tone="bad">
        {isOutdated(error) ? t('models.file.outdated') : describeFailure(error).title}
      </Notice>
    )
  return (
    <Notice tone="bad">
      <p>
        <strong>{t('models.file.mistakes', { count: mistakes.length })}</strong>{' '}
        {t('models.file.unchanged')}
      </p>
      <ul className="marked">
        {mistakes.map((mistake, index) => (
          <li key={index}>
            <button type="button" className="link" onClick={() => onGoTo(mistake)}>
              {t('models.file.line', { line: String(mistake.line) })}
            </button>{' '}
            {mistake.path !== '' && <code className="break">{mistake.path}: </code>}
            {mistake.message}
          </li>
        ))}
      </ul>
    </Notice>
  )
}

interface ApplyProps extends Pick<RefusalProps, 'onGoTo'> {
  readonly plan: CatalogueResult
  readonly send: () => Promise<CatalogueResult>
  readonly onApplied: () => void
}

/** What an apply would change, with the button; it asks before it retires anything. */
function Apply({ plan: { diff, notes }, send, onGoTo, onApplied }: ApplyProps) {
  const client = useQueryClient()
  const [isAsking, setIsAsking] = useState(false)
  const applying = useMutation({
    mutationFn: send,
    onError: (error) => readAgain(client, error),
    async onSuccess() {
      announce(t('models.file.done'))
      onApplied()
      await Promise.all(
        changedByCatalogue.map((queryKey) => client.invalidateQueries({ queryKey })),
      )
    },
  })
  if (diff.length === 0) return <Notice>{t('models.file.nothingChanges')}</Notice>
  const retired = diff.filter(({ action }) => action === 'retire')
  return (
    <>
      <Card
        title={t('models.file.changes')}
        hint={summaryOf(diff)}
        actions={
          <Button
            look="primary"
            isBusy={applying.isPending}
            onClick={() => (retired.length > 0 ? setIsAsking(true) : applying.mutate())}
          >
            {t('models.price.apply')}
          </Button>
        }
      >
        <div className="scroll">
          <DiffList diff={diff} />
          {notes.length > 0 && <h3>{t('models.file.notes')}</h3>}
          <ul className="marked">
            {notes.map((note) => (
              <li key={note}>{note}</li>
            ))}
          </ul>
        </div>
      </Card>
      {applying.error !== null && !isAsking && <Refusal error={applying.error} onGoTo={onGoTo} />}
      <Confirm
        title={t('models.file.retireTitle')}
        action={t('models.price.apply')}
        isOpen={isAsking}
        isBusy={applying.isPending}
        error={applying.error}
        onConfirm={() => applying.mutate()}
        onClose={() => setIsAsking(false)}
      >
        <p>{t('models.file.retireText')}</p>
        <ul className="marked scroll">
          {retired.map((entry) => (
            <li key={entryName(entry)} className="break">
              {entryName(entry)}
            </li>
          ))}
        </ul>
      </Confirm>
    </>
  )
}

/** Asks before edits are lost. */
function LeaveGuard({ isEdited }: { isEdited: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ next }) => {
      const isHere = 'tab' in next.search && next.search.tab === 'catalogue'
      return isEdited && !next.pathname.endsWith('/sign-in') && !isHere
    },
    enableBeforeUnload: () => isEdited,
    withResolver: true,
  })
  return (
    <Confirm
      title={t('models.file.leaveTitle')}
      action={t('models.file.leave')}
      isOpen={status === 'blocked'}
      isBusy={false}
      onConfirm={() => proceed?.()}
      onClose={() => reset?.()}
    >
      {t('models.file.leaveText')}
    </Confirm>
  )
}
