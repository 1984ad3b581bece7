/**
 * Notes of operators about an account, a key or a channel, which all operators see. The operators' log says
 * who has added and deleted one, and not its text: what was deleted is gone.
 */
import { z } from 'zod'
import { findKey } from '../../access/key-store.ts'
import { newId } from '../../base/id.ts'
import { isInUse, readCatalogue } from '../../channels/channel-store.ts'
import type { Queryable } from '../../storage/database.ts'
import { getAccount } from '../accounts/accounts.ts'
import { readActorNames, recordAction, type ActorNames } from '../actions.ts'
import { moment, pageForm, type Answer } from '../answer-forms.ts'
import { noSuchChannel } from '../channels/channels.ts'
import { accountReference, noteText, searchWord } from '../input.ts'
import { conflict, invalid, notFound, operation, timeText } from '../operation.ts'
import { pageFields, pageOf } from '../paging.ts'
import {
  countNotes,
  deleteNote,
  insertNote,
  listNotes,
  noteKinds,
  type Note,
} from './note-store.ts'

const noteForm = z.strictObject({
  id: z.string(),
  kind: z.enum(noteKinds),
  subject: z
    .string()
    .meta({ description: 'The id of the account or key, the name of the channel.' }),
  text: z.string(),
  actor: z.string(),
  actor_name: z.string().nullable().meta({ description: 'Of the token; null for a command.' }),
  created_at: moment,
})

/** What a note is about: one of the three. */
const aboutFields = {
  account: accountReference.optional(),
  key: searchWord.optional().describe('Id of the key or token.'),
  channel: searchWord.optional().describe('Name of the channel.'),
}

type About = z.output<z.ZodObject<typeof aboutFields>>
type Thing = Pick<Note, 'kind' | 'subject'>

export const readNotes = operation(
  { input: z.strictObject({ ...aboutFields, ...pageFields }), answer: pageForm(noteForm) },
  async ({ database }, { cursor, limit, ...about }) => {
    const thing = await thingOf(database, about)
    const rows = await listNotes(database, { ...thing, beforeId: cursor, countMax: limit + 1 })
    const names = await readActorNames(database)
    return pageOf(rows, { limit, cursorOf: ({ id }) => id, view: (row) => viewNote(row, names) })
  },
)

/** About one thing. */
const notesMax = 500

export const addNote = operation(
  { input: z.strictObject({ ...aboutFields, text: noteText }), answer: noteForm },
  (context, { text, ...about }) =>
    context.database.transact(async (transaction) => {
      const thing = await thingOf(transaction, about)
      if ((await countNotes(transaction, thing)) >= notesMax)
        throw conflict(`There are ${notesMax} notes already. Delete one that is not needed.`)
      const createdAtMs = context.clock.now()
      const row = {
        id: newId('note', createdAtMs),
        ...thing,
        text,
        actor: context.actor,
        createdAtMs,
      }
      await insertNote(transaction, row)
      await recordAction(transaction, context, {
        action: 'note.add',
        subject: thing.subject,
        detail: { note: row.id },
      })
      return viewNote(row, await readActorNames(transaction))
    }),
)

export const removeNote = operation(
  { input: z.strictObject({ note: searchWord.describe('Id of the note.') }), answer: noteForm },
  (context, { note: id }) =>
    context.database.transact(async (transaction) => {
      const row = await deleteNote(transaction, id)
      if (row === undefined) throw notFound(`There is no note ${id}.`)
      await recordAction(transaction, context, {
        action: 'note.delete',
        subject: row.subject,
        detail: { note: id },
      })
      return viewNote(row, await readActorNames(transaction))
    }),
)

async function thingOf(queryable: Queryable, { account, key, channel }: About): Promise<Thing> {
  if ([account, key, channel].filter((one) => one !== undefined).length !== 1)
    throw invalid('Give one of account, key and channel.')
  if (account !== undefined)
    return { kind: 'account', subject: (await getAccount(queryable, account)).id }
  if (key !== undefined) {
    if ((await findKey(queryable, key)) === undefined) throw notFound(`There is no key ${key}.`)
    return { kind: 'key', subject: key }
  }
  const { channels } = await readCatalogue(queryable)
  const name = channel ?? ''
  if (!channels.some((row) => row.name === name))
    throw noSuchChannel(name, channels.filter(isInUse))
  return { kind: 'channel', subject: name }
}

function viewNote(row: Note, names: ActorNames): Answer<typeof noteForm> {
  return {
    id: row.id,
    kind: row.kind,
    subject: row.subject,
    text: row.text,
    actor: row.actor,
    actor_name: names.get(row.actor) ?? null,
    created_at: timeText(row.createdAtMs),
  }
}
