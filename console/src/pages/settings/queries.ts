/** What several parts of the settings read. */
import { queryOptions } from '@tanstack/react-query'
import { api, bodyOf } from '../../api/client.ts'

const readSettings = () => bodyOf(api.GET('/admin/v1/settings'))

export type Setting = Awaited<ReturnType<typeof readSettings>>['settings'][number]

export const settingsQuery = queryOptions({
  queryKey: ['settings', 'in-force'],
  queryFn: readSettings,
})
