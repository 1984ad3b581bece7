/** Revokes one key or several, after one question that says what stops. */
import { useSuspenseQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { sessionQuery, useMay } from '../../api/session.ts'
import { t } from '../../messages/t.ts'
import { Ask } from '../../ui/ask.tsx'
import { Button } from '../../ui/button.tsx'
import { Notice } from '../../ui/card.tsx'
import { Age, Usd } from '../../ui/values.tsx'
import { nameOf, revokeKey, type Key } from './queries.ts'

/** Returns which keys this person can still revoke. */
export function useMayRevoke(): (key: Key) => boolean {
  const isOperator = useMay('operator')
  const isOwner = useMay('owner')
  return ({ kind, state }) => state !== 'revoked' && (kind === 'admin' ? isOwner : isOperator)
}

/** Nothing where this person cannot revoke the key. */
export function RevokeButton({ of: key }: { of: Key }) {
  const [isAsked, setIsAsked] = useState(false)
  const mayRevoke = useMayRevoke()
  if (!mayRevoke(key)) return null
  return (
    <>
      <Button
        aria-label={t('keys.revokeOne', { name: nameOf(key) })}
        onClick={() => setIsAsked(true)}
      >
        {t('keys.revoke')}
      </Button>
      <RevokeQuestion
        keys={isAsked ? [key] : []}
        onClose={() => setIsAsked(false)}
        onDone={() => setIsAsked(false)}
      />
    </>
  )
}

interface RevokeProps {
  /** Empty = no question. */
  readonly keys: readonly Key[]
  readonly onClose: () => void
  /** All of them are revoked. */
  readonly onDone: () => void
}

export function RevokeQuestion({ keys, onClose, onDone }: RevokeProps) {
  const { data: session } = useSuspenseQuery(sessionQuery)
  return (
    <Ask
      title={t('keys.revokeQuestion', { keys: countOf(keys) })}
      action={t('keys.revoke')}
      act={() => revokeAll(keys)}
      done={t('keys.revoked', { keys: countOf(keys) })}
      refresh={[['keys']]}
      isOpen={keys.length > 0}
      onClose={onClose}
      onDone={onDone}
    >
      <p>{t('keys.revokeMeans', { count: keys.length })}</p>
      {keys.some(({ id }) => id === session?.token_id) && (
        <Notice tone="warn">{t('keys.ownSessionEnds')}</Notice>
      )}
      <ul className="marked" aria-label={t('keys.whatStops')}>
        {keys.map((key) => (
          <li key={key.id}>
            <strong className="break">{nameOf(key)}</strong> <code>{key.head}</code>
            <div className="soft">
              <Use of={key} />
            </div>
          </li>
        ))}
      </ul>
    </Ask>
  )
}

/** What a key does now. */
function Use({ of: { kind, account_name: account, last_used_at: usedAt, used } }: { of: Key }) {
  const whose =
    account === null ? t(`keys.kindNames.${kind}`) : t(`keys.kindOf.${kind}`, { account })
  const today =
    kind === 'client' && t.rich('keys.usedToday', { amount: () => <Usd value={used.day_usd} /> })
  return (
    <>
      {whose},{' '}
      {usedAt === null
        ? t('keys.neverUsed')
        : t.rich('keys.usedAt', { age: () => <Age at={usedAt} /> })}
      {today}
    </>
  )
}

/** One after the other: the first failure ends the work, and the list then shows the rest. */
async function revokeAll(keys: readonly Key[]): Promise<void> {
  for (const key of keys) await revokeKey(key)
}

function countOf(keys: readonly Key[]): string {
  const [only] = keys
  return keys.length === 1 && only !== undefined
    ? nameOf(only)
    : t('keys.count', { count: keys.length })
}
