/**
 * The form of a key, and its secret directly after it was made, for operators and for members. Knows no API:
 * the page gives the names of the models and sends the form.
 */
import { useQuery } from '@tanstack/react-query'
import { useState, type ReactNode } from 'react'
import { t } from '../messages/t.ts'
import { Notice } from '../ui/card.tsx'
import { SecretOnce, Snippet, variablesFile } from '../ui/copy.tsx'
import type { FormField } from '../ui/draft.ts'
import { CheckField, SelectField } from '../ui/field.tsx'
import { dayField, linesField, linesOf, textField, usdField } from '../ui/form-fields.tsx'
import type { FormParts } from '../ui/form.tsx'
import { Group, Pair, Scroll, Stack } from '../ui/layout.tsx'
import type { NamesQuery } from '../ui/list/define.ts'
import { Loading } from '../ui/states.tsx'

const count = { initial: '0', input: { inputMode: 'numeric' } } as const

/** Null = every model. */
function modelsField(names: NamesQuery): FormField<readonly string[] | null, string[] | null> {
  return {
    label: t('keyForm.models'),
    initial: null,
    read: (value) => (Array.isArray(value) ? value.map(String) : null),
    send: (models) => models && [...models],
    input: ({ label, error, value, onChange }) => (
      <>
        <SelectField
          label={label}
          value={value === null ? 'all' : 'some'}
          options={[
            ['all', t('keyForm.everyModel')],
            ['some', t('keyForm.chosenModels')],
          ]}
          error={error}
          onChange={(choice) => onChange(choice === 'all' ? null : [])}
        />
        {value !== null && <ModelChoice names={names} chosen={value} onChange={onChange} />}
      </>
    ),
  }
}

interface ModelChoiceProps {
  readonly names: NamesQuery
  readonly chosen: readonly string[]
  readonly onChange: (models: readonly string[]) => void
}

function ModelChoice({ names, chosen, onChange }: ModelChoiceProps) {
  const { data: models } = useQuery(names)
  if (models === undefined) return <Loading rows={2} />
  // A model that has left the catalogue stays chosen until it is taken off.
  const ids = [...new Set([...models, ...chosen])]
  return (
    <Scroll role="group" aria-label={t('keyForm.chosen')}>
      {ids.map((id) => (
        <CheckField
          key={id}
          label={id}
          value={chosen.includes(id)}
          onChange={(isChosen) =>
            onChange(isChosen ? [...chosen, id] : chosen.filter((each) => each !== id))
          }
        />
      ))}
    </Scroll>
  )
}

const expiresField = dayField(t('keyForm.expires'), { hint: t('keyForm.expiresHint') })

export function keyFieldsOf(names: NamesQuery) {
  return {
    name: textField(t('keyForm.name'), {
      hint: t('keyForm.keyNameHint'),
      input: { autoFocus: true },
    }),
    /** A key that is given a day works until its end, which is the start of the next one. */
    expires: {
      ...expiresField,
      read: (end: unknown) =>
        typeof end === 'string' ? new Date(Date.parse(end) - 1).toISOString().slice(0, 10) : '',
    },
    daily_usd: usdField(t('keyForm.perDay'), { initial: '0' }),
    monthly_usd: usdField(t('keyForm.perMonth'), { initial: '0' }),
    total_usd: usdField(t('keyForm.total'), { initial: '0' }),
    rpm: textField(t('keyForm.requests'), count),
    tpm: textField(t('keyForm.tokens'), count),
    models: modelsField(names),
    ip: {
      ...linesField(t('keyForm.addresses'), { rows: 2, hint: t('keyForm.addressesHint') }),
      send: (text: string) => (text.trim() === '' ? null : [...linesOf(text)]),
    },
  }
}

export function keyInputs({ field }: FormParts<ReturnType<typeof keyFieldsOf>>): ReactNode {
  return (
    <>
      <Pair>
        {field('name')}
        {field('expires')}
      </Pair>
      <Group title={t('keyForm.budgetsHint')}>
        <Pair>
          {field('daily_usd')}
          {field('monthly_usd')}
          {field('total_usd')}
        </Pair>
      </Group>
      <Group title={t('keyForm.ratesHint')}>
        <Pair>
          {field('rpm')}
          {field('tpm')}
        </Pair>
      </Group>
      {field('models')}
      {field('ip')}
    </>
  )
}

/** A new thing has no restriction to take away. */
export function givenOf<Changes extends object>(
  changes: Changes,
): { [Name in keyof Changes]: Exclude<Changes[Name], null> } {
  return Object.fromEntries(Object.entries(changes).filter(([, value]) => value !== null)) as {
    [Name in keyof Changes]: Exclude<Changes[Name], null>
  }
}

interface SecretAfterProps {
  readonly made: (secret: string) => ReactNode
  readonly children: (onMade: (made: { readonly secret: string | null }) => void) => ReactNode
}

/** A form, and then the secret that it has made. */
export function SecretAfter({ made, children }: SecretAfterProps) {
  const [secret, setSecret] = useState<string | null>()
  if (secret === undefined) return children((answer) => setSecret(answer.secret))
  // The request was repeated after its answer was lost; the gateway keeps no secret.
  if (secret === null) return <Notice tone="warn">{t('keyForm.lostSecret')}</Notice>
  return made(secret)
}

interface KeySecretProps {
  readonly secret: string
  readonly vendors: readonly { readonly name: string; readonly format: string }[]
  /** Of the public listener, such as `https://gateway.example`. */
  readonly address: string
  readonly onDone: () => void
  /** Beside the variables. */
  readonly children?: ReactNode
}

export function KeySecret({ secret, vendors, address, onDone, children }: KeySecretProps) {
  // The variables that SDKs and agents read.
  const variables = vendors.map(({ name, format }) =>
    format === 'messages'
      ? `export ANTHROPIC_BASE_URL=${address}/${name}\nexport ANTHROPIC_AUTH_TOKEN=${secret}`
      : `export OPENAI_BASE_URL=${address}/${name}/v1\nexport OPENAI_API_KEY=${secret}`,
  )
  const text = variables.join('\n\n')
  return (
    <SecretOnce
      secret={secret}
      file={variablesFile(
        vendors.length === 0 ? `TURNPIKE_KEY=${secret}` : text.replaceAll('export ', ''),
      )}
      onDone={onDone}
    >
      {vendors.length > 0 && (
        <Stack>
          <p className="soft">
            {t('keyForm.setVariables')} {children}
          </p>
          <Snippet label={t('keyForm.shellVariables')} text={text} />
        </Stack>
      )}
    </SecretOnce>
  )
}
