/** Endpoints of channels: their health and history, on, off, check, and their credentials. */
import { checkChannel } from './channel-check.ts'
import { channelHistory, listChannelFields, showChannel } from './channel-health.ts'
import { replaceCredential, restoreCredential } from './replace-credential.ts'
import { testChannel } from './tiny-request.ts'
import { listVendorModels } from './vendor-models.ts'
import { switchChannel } from './channels.ts'
import { changeOptions } from '../catalogue/catalogue.ts'
import { channelChanges } from '../catalogue/entry-changes.ts'
import { endpoints } from '../endpoint.ts'

/** In the query of every change of an entry; the body is the entry. */
const inQuery = Object.keys(changeOptions.shape)

export const channelEndpoints = endpoints('channels', {
  list: {
    route: 'GET /channels',
    summary: 'List the channels with their health.',
    operation: listChannelFields,
  },
  show: {
    route: 'GET /channels/{channel}',
    summary: 'Show one channel: settings, health, cost of checks, recent history.',
    operation: showChannel,
  },
  history: {
    route: 'GET /channels/{channel}/history',
    summary: 'List the state changes of a channel, newest first.',
    operation: channelHistory,
    isExported: true,
  },
  create: {
    route: 'POST /channels',
    query: inQuery,
    summary: 'Add a channel to the catalogue.',
    role: 'owner',
    operation: channelChanges.create,
    example: {
      name: 'alpha-second',
      vendor: 'alpha',
      url: 'https://second.example',
      credential: 'env:ALPHA_MAIN_KEY',
      models: ['large-1'],
      rank: 1,
      dry_run: true,
    },
  },
  edit: {
    route: 'PATCH /channels/{channel}',
    query: inQuery,
    summary: 'Change a channel of the catalogue; null removes a field.',
    role: 'owner',
    operation: channelChanges.edit,
    example: { weight: 2, dry_run: true },
  },
  retire: {
    route: 'DELETE /channels/{channel}',
    summary: 'Retire a channel: requests in progress end on it, and no other begins.',
    role: 'owner',
    operation: channelChanges.retire,
    example: { dry_run: true },
  },
  off: {
    route: 'POST /channels/{channel}/off',
    summary: 'Disable a channel until it is enabled again.',
    operation: switchChannel,
    fixed: { override: 'disabled' },
  },
  on: {
    route: 'POST /channels/{channel}/on',
    summary: 'Enable a disabled channel.',
    operation: switchChannel,
    fixed: { override: 'enabled' },
  },
  check: {
    route: 'POST /channels/{channel}/check',
    summary: 'Have each running gateway send a small real request per model.',
    operation: checkChannel,
  },
  models: {
    route: 'POST /channels/{channel}/models',
    summary: 'Ask the vendor of a channel, stored or drafted, which models it lists.',
    role: 'owner',
    operation: listVendorModels,
  },
  test: {
    route: 'POST /channels/{channel}/test',
    summary: 'Send a small real request over a channel, stored or drafted. Nothing is saved.',
    role: 'owner',
    operation: testChannel,
  },
  replaceCredential: {
    id: 'channels.replace_credential',
    route: 'PUT /channels/{channel}/credential',
    summary: 'Replace the credential of a channel by one that serves a request.',
    role: 'owner',
    operation: replaceCredential,
    example: { credential: 'env:ALPHA_MAIN_KEY', force: true },
  },
  restoreCredential: {
    id: 'channels.restore_credential',
    route: 'POST /channels/{channel}/credential/restore',
    summary: 'Take back the credential that a channel had before, within 24 hours.',
    role: 'owner',
    operation: restoreCredential,
    repeats: 'credential',
  },
})
