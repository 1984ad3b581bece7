/** Imports prices from the community's list: choose the file, see the changes by model, apply a choice. */
import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { useMay } from '../../api/session.ts'
import { reworded, t } from '../../messages/t.ts'
import { Problem } from '../../problem.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, Card, Notice } from '../../ui/card.tsx'
import { CheckField, FileField, TextField, type ChosenFile } from '../../ui/field.tsx'
import { Columns, Pair, Row, Stack } from '../../ui/layout.tsx'
import { defineList } from '../../ui/list/define.ts'
import { List } from '../../ui/list/list.tsx'
import { isOutdated } from '../../ui/outdated.tsx'
import { describeFailure, Empty, Loading } from '../../ui/states.tsx'
import { announce } from '../../ui/toast.tsx'
import { Time } from '../../ui/values.tsx'
import { FieldChanges, OthersSince } from '../entries/changes.tsx'
import { changedByCatalogue } from '../entries/requests.ts'
import { sendImport, type ImportRequest, type ImportResult } from './queries.ts'

export function ImportPrices() {
  if (useMay('owner')) return <ImportFile />
  return (
    <Card>
      <Empty title={t('models.import.ownersOnly')}>{t('models.import.signIn')}</Empty>
    </Card>
  )
}

/** The state of an import from the file to what is written. */
function useImport() {
  const client = useQueryClient()
  const [file, setFile] = useState<ChosenFile>()
  const [leftOut, setLeftOut] = useState<ReadonlySet<string>>(new Set())
  /** What other operators have changed since the changes were shown. */
  const [others, setOthers] = useState<readonly unknown[]>([])
  const planning = useMutation({ mutationFn: (asked: ImportRequest) => sendImport(asked) })
  const applying = useMutation({
    mutationFn: (chosen: Parameters<typeof sendImport>[1] & { readonly asked: ImportRequest }) =>
      sendImport(chosen.asked, chosen),
    onError(error, { asked }) {
      if (!isOutdated(error)) return
      setOthers(error.changes)
      planning.mutate(asked)
    },
    onSuccess(result) {
      for (const queryKey of changedByCatalogue) void client.invalidateQueries({ queryKey })
      const count = result.models.filter(({ changes }) => changes.length > 0).length
      announce(t('models.import.done', { count }))
      forget()
      setFile(undefined)
    },
  })
  const forget = (): void => {
    planning.reset()
    setLeftOut(new Set())
    setOthers([])
  }
  return { file, setFile, leftOut, setLeftOut, others, planning, applying, forget }
}

function ImportFile() {
  const importing = useImport()
  const { file, setFile, others, planning, applying, forget } = importing
  const [from, setFrom] = useState('')
  const { data: planned, variables: asked } = planning
  return (
    <>
      <Card title={t('models.import.choose')} hint={t('models.import.chooseHint')}>
        <Stack>
          <Pair>
            <FileField
              // A file that was imported is forgotten.
              key={applying.data === undefined ? '' : applying.submittedAt}
              label={t('models.import.list')}
              accept=".json,application/json"
              onFiles={([chosen]) => {
                setFile(chosen)
                forget()
                applying.reset()
              }}
            />
            <TextField
              label={t('models.import.from')}
              type="date"
              hint={t('models.import.fromHint')}
              value={from}
              onChange={setFrom}
            />
          </Pair>
          <Row>
            <Button
              look={planned === undefined ? 'primary' : 'plain'}
              disabled={file === undefined}
              isBusy={planning.isPending}
              onClick={() => file && planning.mutate({ text: file.text, from, names: {} })}
            >
              {t('entries.showChanges')}
            </Button>
          </Row>
        </Stack>
      </Card>
      {others.length > 0 && <OthersSince changes={others} />}
      {planning.isPending && <Loading rows={5} />}
      {planning.error !== null && <ImportFailure error={planning.error} />}
      {applying.error !== null && !isOutdated(applying.error) && (
        <ImportFailure error={applying.error} />
      )}
      {planned !== undefined && asked !== undefined && (
        <Choice {...importing} asked={asked} planned={planned} />
      )}
    </>
  )
}

function ImportFailure({ error }: { error: Error }) {
  const mistakes =
    error instanceof Problem ? error.mistakes.map((mistake) => reworded(String(mistake))) : []
  if (mistakes.length === 0) return <Notice tone="bad">{describeFailure(error).title}</Notice>
  return (
    <Notice tone="bad">
      {t('models.import.mistakes')}
      <ul className="marked">
        {mistakes.map((mistake) => (
          <li key={mistake}>{mistake}</li>
        ))}
      </ul>
    </Notice>
  )
}

interface ChoiceProps extends Pick<
  ReturnType<typeof useImport>,
  'leftOut' | 'setLeftOut' | 'planning' | 'applying'
> {
  readonly asked: ImportRequest
  readonly planned: ImportResult
}

/** The models of an import with their changes. Each can be left out; one that is not listed can be named. */
function Choice({ asked, planned, leftOut, setLeftOut, planning, applying }: ChoiceProps) {
  const { models } = planned
  const changed = models.filter(({ changes }) => changes.length > 0)
  const same = models.filter(({ changes }) => changes.length === 0)
  const chosen = changed.filter(({ model }) => !leftOut.has(model)).map(({ model }) => model)
  const rows = changed.map((one) => ({
    ...one,
    isChosen: !leftOut.has(one.model),
    isDated: asked.from !== '',
    choose(isChosen: boolean): void {
      const next = new Set(leftOut).add(one.model)
      if (isChosen) next.delete(one.model)
      setLeftOut(next)
    },
  }))
  return (
    <>
      <List
        of={changeList}
        list={{ rows }}
        title={t('models.import.changes')}
        hint={t('models.import.changing', { count: changed.length, all: models.length })}
        actions={
          changed.length > 0 && (
            <Button
              look="primary"
              isBusy={applying.isPending}
              disabled={chosen.length === 0}
              onClick={() => applying.mutate({ asked, models: chosen, revision: planned.revision })}
            >
              {t('models.import.action', { count: chosen.length })}
            </Button>
          )
        }
      />
      {same.length > 0 && (
        <p className="soft">
          {t('models.import.same', { models: same.map(({ model }) => model).join(', ') })}
        </p>
      )}
      {planned.not_listed.length > 0 && (
        <NotListed
          models={planned.not_listed}
          onName={(model, name) =>
            planning.mutate({ ...asked, names: { ...asked.names, [model]: name } })
          }
        />
      )}
    </>
  )
}

type ChoiceRow = ImportResult['models'][number] & {
  readonly isChosen: boolean
  readonly isDated: boolean
  readonly choose: (isChosen: boolean) => void
}

const changeList = defineList<ChoiceRow>({
  name: 'price-import',
  caption: t('models.import.caption'),
  rowKey: ({ model }) => model,
  isRoomy: true,
  columns: [
    {
      id: 'model',
      name: t('models.import.model'),
      place: 'name',
      cell: ({ model, listed_as: listedAs, vendor_in_list: vendor, isChosen, choose }) => (
        <Stack isTight>
          <CheckField
            label={t('models.import.one', { model })}
            value={isChosen}
            onChange={choose}
          />
          <Row>
            {listedAs !== model && (
              <span className="soft small">{t('models.import.listedAs', { name: listedAs })}</span>
            )}
            {vendor !== null && <Badge>{vendor}</Badge>}
          </Row>
        </Stack>
      ),
    },
    {
      id: 'changes',
      name: t('models.import.changes'),
      place: 'note',
      cell: ({ changes }) => <FieldChanges changes={changes} />,
    },
    {
      id: 'from',
      name: t('models.versions.from'),
      cell: ({ valid_from: from, isDated }) => {
        if (from === null) return t('models.versions.beginning')
        return isDated ? <Time at={from} /> : t('models.import.atOnce')
      },
    },
    { id: 'remarks', name: t('models.import.remarks'), cell: (row) => <Remarks of={row} /> },
  ],
  empty: <Empty title={t('models.import.nothing')}>{t('models.import.nothingHint')}</Empty>,
})

function Remarks({ of: { notes, unpriced } }: { of: ChoiceRow }) {
  if (notes.length + unpriced.length === 0)
    return <span className="soft">{t('models.import.none')}</span>
  return (
    <ul className="marked">
      {notes.map((note) => (
        <li key={note}>{reworded(note)}</li>
      ))}
      {unpriced.map(({ field, value }) => (
        <li key={field}>
          {t('models.import.unpriced')} <code className="break">{field}</code> {value}
        </li>
      ))}
    </ul>
  )
}

interface NotListedProps {
  readonly models: readonly string[]
  readonly onName: (model: string, listedAs: string) => void
}

function NotListed({ models, onName }: NotListedProps) {
  return (
    <Card title={t('models.import.notListed')} hint={t('models.import.notListedHint')}>
      <Columns>
        {models.map((model) => (
          <NameForm key={model} model={model} onName={(name) => onName(model, name)} />
        ))}
      </Columns>
    </Card>
  )
}

function NameForm({ model, onName }: { model: string; onName: (name: string) => void }) {
  const [text, setText] = useState('')
  const name = text.trim()
  return (
    <form
      className="row row-end"
      onSubmit={(event) => {
        event.preventDefault()
        onName(name)
      }}
    >
      <TextField
        label={model}
        placeholder={t('models.import.nameInList')}
        value={text}
        onChange={setText}
      />
      <Button type="submit" disabled={name === ''}>
        {t('models.import.lookUp')}
      </Button>
    </form>
  )
}
