/** The last step of each form of entries: what would change, then Save. */
import { useQueryClient } from '@tanstack/react-query'
import { Notice } from '../../ui/card.tsx'
import { Form } from '../../ui/form.tsx'
import { DiffEntry } from '../models/catalogue-diff.tsx'
import { refreshCatalogue } from '../models/changes.ts'
import type { Planned } from './requests.ts'

interface ChangesStepProps {
  readonly planned: Planned
  readonly onSave: () => Promise<Planned>
  readonly onBack: () => void
  readonly onSaved: () => void
}

export function ChangesStep({ planned, onSave, onBack, onSaved }: ChangesStepProps) {
  const client = useQueryClient()
  if (planned.diff.length === 0)
    return (
      <Form action="Change again" isStep onSubmit={() => Promise.resolve()} onDone={onBack}>
        {() => <Notice>Nothing changes: the catalogue says so already.</Notice>}
      </Form>
    )
  return (
    <Form
      action="Save"
      onSubmit={onSave}
      onCancel={onBack}
      cancel="Back"
      onDone={() => {
        void refreshCatalogue(client)
        onSaved()
      }}
    >
      {() => (
        <>
          <p>In force at once, on every gateway within a second:</p>
          <ul className="models-diff">
            {planned.diff.map((entry) => (
              <li key={`${entry.kind} ${entry.name}`}>
                <DiffEntry entry={entry} />
              </li>
            ))}
          </ul>
          {planned.notes.map((note) => (
            <Notice key={note} tone="warn">
              {note}
            </Notice>
          ))}
        </>
      )}
    </Form>
  )
}
