/** Edits the text of the catalogue, shows what the gateway would change, and applies it. */
import { useMutation, useQuery, useQueryClient } from '@tanstack/react-query'
import { useBlocker } from '@tanstack/react-router'
import { Download, RotateCcw } from 'lucide-react'
import { useRef, useState, type ReactNode } from 'react'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/card.tsx'
import { saveFile } from '../../ui/csv.ts'
import { Confirm } from '../../ui/dialog.tsx'
import { describeFailure } from '../../ui/states.tsx'
import { announce } from '../../ui/toast.tsx'
import { CatalogueDiff } from './catalogue-diff.tsx'
import { isOutdated, refreshCatalogue, sendCatalogue, type CatalogueResult } from './changes.ts'
import { CatalogueCode } from './catalogue-code.tsx'
import type { CodeHandle } from './code-editor.tsx'
import { mistakesOf, Mistakes, type Mistake } from './mistakes.tsx'
import { fieldsQuery, type CatalogueFile } from './queries.ts'

interface CatalogueEditorProps {
  readonly base: CatalogueFile
  readonly text: string
  readonly onText: (text: string) => void
  /** The line of the entry asked for. */
  readonly line: number | undefined
}

export function CatalogueEditor({ base, text, onText, line }: CatalogueEditorProps) {
  const editor = useRef<CodeHandle>(null)
  const { data: fields } = useQuery(fieldsQuery)
  const isEdited = text !== base.text
  const planning = useMutation({
    mutationFn: () => sendCatalogue(text, base, true),
    onError: useReload(),
  })
  const change = (next: string): void => {
    onText(next)
    planning.reset()
  }
  const mistakes = mistakesOf(planning.error)
  return (
    <>
      <LeaveGuard isEdited={isEdited} />
      <EditorHead text={text} isEdited={isEdited} onDiscard={() => change(base.text)}>
        <Button
          look={planning.data === undefined ? 'primary' : 'plain'}
          disabled={!isEdited}
          isBusy={planning.isPending}
          onClick={() => planning.mutate()}
        >
          Show changes
        </Button>
      </EditorHead>
      {planning.error !== null && mistakes.length === 0 && <ApplyFailure error={planning.error} />}
      {mistakes.length > 0 && (
        <Mistakes
          mistakes={mistakes}
          onGoTo={(mistake) => editor.current?.goTo(mistake.line, mistake.column)}
        />
      )}
      {planning.data !== undefined && (
        <Apply
          plan={planning.data}
          text={text}
          base={base}
          // The applied text is no edit any more; the gateway prints it in its own order.
          onApplied={() => change(base.text)}
        />
      )}
      <CatalogueCode
        label="Catalogue file"
        text={text}
        line={line}
        handle={editor}
        onText={change}
        fields={() => fields}
        check={(given) => findMistakes(given, base)}
      />
    </>
  )
}

/** Asks the gateway about a text that is being written. Writes nothing. */
async function findMistakes(text: string, base: CatalogueFile): Promise<readonly Mistake[]> {
  if (text === base.text) return []
  return sendCatalogue(text, base, true).then(
    () => [],
    (error: unknown) => mistakesOf(error),
  )
}

interface EditorHeadProps {
  readonly text: string
  readonly isEdited: boolean
  readonly onDiscard: () => void
  readonly children: ReactNode
}

function EditorHead({ text, isEdited, onDiscard, children }: EditorHeadProps) {
  return (
    <div className="models-editor-head">
      <p className="soft" role="status">
        {isEdited ? 'Edited, not applied' : 'As applied'}
      </p>
      <div className="row">
        <Button onClick={() => saveFile('catalogue.yaml', text, 'application/yaml')}>
          <Download aria-hidden /> Download
        </Button>
        <Button disabled={!isEdited} onClick={onDiscard}>
          <RotateCcw aria-hidden /> Discard edits
        </Button>
        {children}
      </div>
    </div>
  )
}

interface ApplyProps {
  readonly plan: CatalogueResult
  readonly text: string
  readonly base: CatalogueFile
  readonly onApplied: () => void
}

/** Reads the catalogue again where another operator has changed it, so that the page offers to load it. */
function useReload(): (error: Error) => Promise<void> | undefined {
  const client = useQueryClient()
  return (error) => (isOutdated(error) ? refreshCatalogue(client) : undefined)
}

/** The changes with the button that applies them; it asks before it retires anything. */
function Apply({ plan, text, base, onApplied }: ApplyProps) {
  const client = useQueryClient()
  const [isAsking, setIsAsking] = useState(false)
  const applying = useMutation({
    mutationFn: () => sendCatalogue(text, base, false),
    onError: useReload(),
    onSuccess() {
      announce('The catalogue is applied.')
      onApplied()
      return refreshCatalogue(client)
    },
  })
  const retired = plan.diff.filter(({ action }) => action === 'retire')
  return (
    <>
      <CatalogueDiff
        result={plan}
        isBusy={applying.isPending}
        onApply={() => (retired.length > 0 ? setIsAsking(true) : applying.mutate())}
      />
      {applying.error !== null && !isAsking && <ApplyFailure error={applying.error} />}
      <Confirm
        title="Retire entries?"
        action="Apply"
        isOpen={isAsking}
        isBusy={applying.isPending}
        error={applying.error}
        onConfirm={() => applying.mutate()}
        onClose={() => setIsAsking(false)}
      >
        <p>
          These entries are no longer in the file, and will serve no requests. Add them again to
          bring them back.
        </p>
        <ul className="models-retired">
          {retired.map(({ kind, name }) => (
            <li key={`${kind} ${name}`} className="break">
              {kind} <strong>{name}</strong>
            </li>
          ))}
        </ul>
      </Confirm>
    </>
  )
}

function ApplyFailure({ error }: { error: Error }) {
  return (
    <Notice tone="bad">
      {isOutdated(error)
        ? 'Another operator has changed the catalogue since you read it. Nothing was applied.'
        : describeFailure(error).title}
    </Notice>
  )
}

/** Asks before edits are lost. */
function LeaveGuard({ isEdited }: { isEdited: boolean }) {
  const { status, proceed, reset } = useBlocker({
    shouldBlockFn: ({ next }) =>
      isEdited && !next.pathname.endsWith('/sign-in') && !isThisTab(next.search),
    enableBeforeUnload: () => isEdited,
    withResolver: true,
  })
  return (
    <Confirm
      title="Leave without applying?"
      action="Leave"
      isOpen={status === 'blocked'}
      isBusy={false}
      onConfirm={() => proceed?.()}
      onClose={() => reset?.()}
    >
      Your edits of the catalogue file are not applied and will be lost.
    </Confirm>
  )
}

function isThisTab(search: object): boolean {
  return 'tab' in search && search.tab === 'catalogue'
}
