/** Revokes one key or several, after one question that says what stops. */
import { useMutation, useQueryClient, useSuspenseQuery } from '@tanstack/react-query'
import { sessionQuery } from '../../api/session.ts'
import { Notice } from '../../ui/card.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { announce } from '../../ui/toast.tsx'
import { Age, Usd } from '../../ui/values.tsx'
import { kindNames, nameOf, revokeKey, type Key } from './queries.ts'

interface RevokeProps {
  /** Empty = no question. */
  readonly keys: readonly Key[]
  readonly onClose: () => void
  /** All of them are revoked. */
  readonly onDone: () => void
}

export function RevokeQuestion({ keys, onClose, onDone }: RevokeProps) {
  const client = useQueryClient()
  const revoking = useMutation({
    mutationFn: () => revokeAll(keys),
    onSettled: () => void client.invalidateQueries({ queryKey: ['keys'] }),
    onSuccess() {
      announce(`${countOf(keys)} revoked.`)
      onDone()
    },
  })
  return (
    <Confirm
      title={`Revoke ${countOf(keys)}?`}
      action="Revoke"
      isOpen={keys.length > 0}
      isBusy={revoking.isPending}
      error={revoking.error}
      onConfirm={() => revoking.mutate()}
      onClose={() => {
        revoking.reset()
        onClose()
      }}
    >
      <p>
        The next request with {keys.length === 1 ? 'it' : 'one of them'} is refused, within a second
        on every gateway. Requests that run now are finished. This cannot be undone.
      </p>
      <OwnToken keys={keys} />
      <ul className="keys-stopping" aria-label="What stops">
        {keys.map((key) => (
          <li key={key.id}>
            <Stopping of={key} />
          </li>
        ))}
      </ul>
    </Confirm>
  )
}

/** What a key does now, and what ends with it. */
function Stopping({ of: key }: { of: Key }) {
  const { kind, head, account_name: account, last_used_at: usedAt, used } = key
  return (
    <>
      <strong className="break">{nameOf(key)}</strong> <code>{head}</code>
      <div className="soft">
        {account === null ? kindNames[kind] : `${kindNames[kind]} of ${account}`}
        {usedAt === null ? (
          ', never used'
        ) : (
          <>
            , last used <Age at={usedAt} />
          </>
        )}
        {kind === 'client' && (
          <>
            , <Usd value={used.day_usd} /> today
          </>
        )}
      </div>
    </>
  )
}

function OwnToken({ keys }: { keys: readonly Key[] }) {
  const { data: session } = useSuspenseQuery(sessionQuery)
  if (!keys.some(({ id }) => id === session?.token_id)) return null
  return <Notice tone="warn">Your own session ends: it has the rights of one of them.</Notice>
}

/** One after the other: the first failure ends the work, and the list then shows the rest. */
async function revokeAll(keys: readonly Key[]): Promise<void> {
  for (const key of keys) await revokeKey(key)
}

function countOf(keys: readonly Key[]): string {
  const [only] = keys
  return keys.length === 1 && only !== undefined ? nameOf(only) : `${keys.length} keys`
}
