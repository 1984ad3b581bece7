/**
 * The frame of each form that changes entries of the catalogue: the fields, then what would change, then
 * Save. Where another operator has changed the same entries meanwhile, nothing is saved: the form says who
 * has changed what, keeps what was typed, and goes on from there.
 */
import { useContext, useState, type ReactNode } from 'react'
import { reworded, t } from '../../messages/t.ts'
import { Notice } from '../../ui/card.tsx'
import { NewForm, type ErrorOf } from '../../ui/form.tsx'
import { isOutdated } from '../../ui/outdated.tsx'
import { DialogContext } from '../../ui/typed.ts'
import { DiffList, OthersSince } from './changes.tsx'
import { changedByCatalogue, sendPatch, type CataloguePatch, type Planned } from './requests.ts'

interface PatchFormProps {
  readonly patch: CataloguePatch
  readonly revision: string
  /** Reads again what the form has read. */
  readonly readAgain: () => Promise<unknown>
  /** The form shows by itself what another operator has changed. */
  readonly isMerged?: boolean
  readonly isReady: boolean
  /** Refuses what the gateway would take. */
  readonly check?: () => void
  /** In place of "Save". */
  readonly action?: string
  /** Says what was done. */
  readonly saved: string
  /** In place of the entries with their changes. */
  readonly review?: ((planned: Planned) => ReactNode) | undefined
  readonly children: (errorOf: ErrorOf) => ReactNode
}

export function PatchForm(props: PatchFormProps) {
  const { patch, revision, readAgain, isMerged = false, isReady, check, children } = props
  const dialog = useContext(DialogContext)
  const [planned, setPlanned] = useState<Planned>()
  const [others, setOthers] = useState<readonly unknown[]>()
  /** Undefined where another operator's change was in the way, which the form then shows. */
  const send = async (isDryRun: boolean): Promise<Planned | undefined> => {
    check?.()
    try {
      return await sendPatch(patch, { revision, isDryRun })
    } catch (error) {
      if (!isOutdated(error)) throw error
      await readAgain()
      setOthers(error.changes)
      return undefined
    }
  }
  if (planned !== undefined)
    return (
      <Review
        {...props}
        planned={planned}
        onBack={() => setPlanned(undefined)}
        onSave={() => send(false)}
        onDone={(result) => {
          if (result === undefined) return setPlanned(undefined)
          dialog?.forget()
          dialog?.close()
        }}
      />
    )
  return (
    <NewForm
      fields={{}}
      action={t('entries.showChanges')}
      isStep
      isReady={() => isReady}
      send={() => send(true)}
      onDone={setPlanned}
    >
      {({ errorOf }) => (
        <>
          {others !== undefined && <OthersSince changes={others} isMerged={isMerged} />}
          {children(errorOf)}
        </>
      )}
    </NewForm>
  )
}

interface ReviewProps extends Pick<PatchFormProps, 'action' | 'saved' | 'review'> {
  readonly planned: Planned
  readonly onBack: () => void
  readonly onSave: () => Promise<Planned | undefined>
  readonly onDone: (result: Planned | undefined) => void
}

function Review(props: ReviewProps) {
  const { planned, action = t('entries.save'), saved, review, onBack, onSave, onDone } = props
  if (planned.diff.length === 0)
    return (
      <NewForm
        fields={{}}
        action={t('entries.changeAgain')}
        isStep
        send={() => Promise.resolve()}
        onDone={onBack}
      >
        {() => <Notice>{t('entries.nothingChanges')}</Notice>}
      </NewForm>
    )
  return (
    <NewForm
      fields={{}}
      action={action}
      isStep
      send={onSave}
      cancel={t('entries.back')}
      onCancel={onBack}
      toast={(result) => (result === undefined ? undefined : saved)}
      refresh={changedByCatalogue}
      onDone={onDone}
    >
      {() => (
        <>
          {review?.(planned) ?? (
            <>
              <p>{t('entries.inForce')}</p>
              <div className="group">
                <DiffList diff={planned.diff} />
              </div>
            </>
          )}
          {planned.notes.map((note) => (
            <Notice key={note} tone="warn">
              {reworded(note)}
            </Notice>
          ))}
        </>
      )}
    </NewForm>
  )
}
