/**
 * Replaces the credential of a channel, and takes the former one back. A new credential must serve a request
 * before it is saved. The invariant: one transaction saves the new one and keeps the former one, so that a
 * channel has the one or the other at any moment, and neither is in an answer, a log or a difference.
 */
import { z } from 'zod'
import {
  findFormerCredential,
  type FormerCredential,
} from '../../channels/former-credential-store.ts'
import { isInUse, readCatalogue } from '../../channels/channel-store.ts'
import { moment } from '../answer-forms.ts'
import { changeCatalogue } from '../catalogue/catalogue.ts'
import { byFieldOf, editedDraft } from '../catalogue/edit.ts'
import { describeCredential } from '../catalogue/credentials.ts'
import { appliedKind } from '../catalogue/plan.ts'
import { currentRevision, revisionForm } from '../catalogue/revision.ts'
import { insideTransaction } from '../context.ts'
import {
  credentialRefused,
  conflict,
  notFound,
  operation,
  timeText,
  type OperationContext,
} from '../operation.ts'
import { channelName, noSuchChannel } from './channels.ts'
import { openDraft, patching } from './draft-channel.ts'
import { formerForm, showFormer } from './former-credential.ts'
import { testedModel, testForm, testOpened, type TestResult } from './tiny-request.ts'

const replacedForm = z.strictObject({
  kind: appliedKind,
  channel: z.string(),
  credential: z.string().meta({ description: '`env:NAME`, `file:/path` or `sealed`.' }),
  credential_set_at: moment,
  former_credential: formerForm.nullable(),
  test: testForm.nullable().meta({ description: 'The request that it has served; null = none.' }),
  revision: revisionForm,
})

const replaceInput = z.strictObject({
  channel: channelName,
  credential: z
    .string('must be text')
    .trim()
    .min(1, 'must not be empty')
    .describe('`env:NAME`, `file:/path`, or the secret itself, which is sealed.'),
  model: testedModel,
  force: z.boolean().default(false).describe('Save it without a test.'),
})

/** Refuses a credential that does not serve; `details.test` says what came back. */
export const replaceCredential = operation(
  { input: replaceInput, answer: replacedForm },
  async (context, { channel, credential, model, force }) => {
    const revision = await currentRevision(context.database)
    const test = force ? null : await testCredential(context, { channel, credential, model })
    const kind = await saveCredential(context, { channel, credential, revision })
    return { kind, ...(await showChannelCredential(context, channel)), test }
  },
)

async function testCredential(
  context: OperationContext,
  { channel: name, credential, model }: Omit<z.output<typeof replaceInput>, 'force'>,
): Promise<TestResult> {
  await readChannel(context, name)
  const edit = patching({ channels: { [name]: { credential } } })
  const opened = await openDraft(context, name, edit, byFieldOf('channels', name, 'channel'))
  const test = await testOpened(context, { name, opened, model, isDraft: true })
  if (test.ok) return test
  const { outcome, status, reason, error } = test
  const said = [status === null ? undefined : `status ${status}`, error?.type, error?.code]
  const facts = said.filter((fact) => typeof fact === 'string').join(', ')
  const why = reason ?? `${outcome}${facts === '' ? '' : ` (${facts})`}`
  throw credentialRefused(
    `The new credential did not serve a request: ${why}. Nothing was changed. Give another one, or save it untested with force.`,
    test,
  )
}

/** Whatever has changed the channel since the test is not undone, and the test speaks of another channel. */
async function saveCredential(
  context: OperationContext,
  change: {
    readonly channel: string
    readonly credential: string
    readonly revision: string
    readonly isRestore?: true
  },
) {
  const { channel: name, credential, ...options } = change
  const { kind } = await changeCatalogue(context, {
    ...options,
    draft: (stored, nowMs) => {
      const channels = stored.channels.filter(isInUse)
      if (!channels.some((row) => row.name === name)) throw noSuchChannel(name, channels)
      const edit = patching({ channels: { [name]: { credential } } })
      return editedDraft(stored, edit, { nowMs, nameFault: byFieldOf('channels', name, 'channel') })
    },
    subject: name,
    isFile: false,
    dry_run: false,
    force: false,
  })
  return kind
}

async function readChannel({ database }: OperationContext, name: string) {
  const channels = (await database.snapshot(readCatalogue)).channels.filter(isInUse)
  const row = channels.find((one) => one.name === name)
  if (row === undefined) throw noSuchChannel(name, channels)
  return row
}

async function showChannelCredential(context: OperationContext, name: string) {
  const row = await readChannel(context, name)
  return {
    channel: name,
    credential: describeCredential(row.credential),
    credential_set_at: timeText(row.credentialSetAtMs),
    former_credential: await showFormer(context, name),
    revision: await currentRevision(context.database),
  }
}

/** The credential that it replaces is not kept: it is the one that should not be in force. */
export const restoreCredential = operation(
  { input: z.strictObject({ channel: channelName }), answer: replacedForm },
  (context, { channel: name }) =>
    context.database.transact(async (transaction) => {
      const { credentialRule: _, ...inside } = insideTransaction(context, transaction)
      const former = await getFormer(inside, name)
      const kind = await saveCredential(inside, {
        channel: name,
        credential: former.credential,
        revision: await currentRevision(transaction),
        isRestore: true,
      })
      return { kind, ...(await showChannelCredential(inside, name)), test: null }
    }),
)

async function getFormer(context: OperationContext, name: string): Promise<FormerCredential> {
  const { database, clock } = context
  const { url } = await readChannel(context, name)
  const former = await findFormerCredential(database, { channel: name, nowMs: clock.now() })
  if (former === undefined)
    throw notFound(`There is no former credential of ${name}: it is kept for 24 hours.`)
  if (former.url === url) return former
  throw conflict(
    `The former credential of ${name} belongs to another address. Nothing was changed. Give it anew.`,
  )
}
