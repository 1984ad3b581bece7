/** Requests that switch or check a channel. */
import { useQueryClient } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.ts'

export function switchChannel(channel: string, to: 'on' | 'off') {
  const params = { params: { path: { channel } } }
  return bodyOf(
    to === 'on'
      ? api.POST('/admin/v1/channels/{channel}/on', params)
      : api.POST('/admin/v1/channels/{channel}/off', params),
  )
}

/** Has each running gateway send its check; it may take a minute. */
export function checkChannel(channel: string) {
  return bodyOf(api.POST('/admin/v1/channels/{channel}/check', { params: { path: { channel } } }))
}

export type Check = Awaited<ReturnType<typeof checkChannel>>

/** Returns a function that reads again everything a switched channel changes. */
export function useChannelRefresh(): () => Promise<void> {
  const client = useQueryClient()
  return async () => {
    await Promise.all(
      ['channels', 'overview', 'actions'].map((word) =>
        client.invalidateQueries({ queryKey: [word] }),
      ),
    )
  }
}
