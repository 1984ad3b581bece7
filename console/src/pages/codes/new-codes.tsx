/** The form of a new batch of top-up codes, and the codes as they are shown once. */
import { useState } from 'react'
import { api, bodyOf } from '../../api/client.ts'
import { t } from '../../messages/t.ts'
import { Notice } from '../../ui/card.tsx'
import { SecretOnce } from '../../ui/copy.tsx'
import { csvText } from '../../ui/csv.ts'
import { dayField, textField, usdField } from '../../ui/form-fields.tsx'
import { NewForm } from '../../ui/form.tsx'

const fields = {
  amount_usd: usdField(t('codes.amountEach'), {
    isRequired: true,
    hint: t('codes.amountHint'),
    input: { autoFocus: true },
  }),
  count: textField(t('codes.howMany'), {
    isRequired: true,
    hint: t('codes.howManyHint'),
    initial: '1',
    input: { inputMode: 'numeric' },
  }),
  expires: dayField(t('codes.expires'), { hint: t('codes.expiresHint') }),
  note: textField(t('codes.note'), { hint: t('codes.noteHint') }),
}

interface NewCodesProps {
  readonly refresh: readonly (readonly string[])[]
  readonly onClose: () => void
}

export function NewCodes({ refresh, onClose }: NewCodesProps) {
  const [made, setMade] = useState<readonly string[] | null>()
  // The request was repeated after its answer was lost; the gateway keeps no code.
  if (made === null) return <Notice tone="warn">{t('codes.lost')}</Notice>
  if (made !== undefined)
    return (
      <SecretOnce
        secret={made.join('\n')}
        file={{
          name: 'codes.csv',
          text: csvText(
            ['code'],
            made.map((code) => [code]),
          ),
        }}
        onDone={onClose}
      />
    )
  return (
    <NewForm
      fields={fields}
      action={t('codes.make')}
      send={({ draft: { amount_usd, count, expires, note }, once }) =>
        bodyOf(
          api.POST('/admin/v1/codes', {
            params: { header: { 'Idempotency-Key': once } },
            body: { amount_usd, count, note: note.trim(), ...(expires !== '' && { expires }) },
          }),
        )
      }
      refresh={refresh}
      onDone={({ codes }) => setMade(codes)}
    />
  )
}
