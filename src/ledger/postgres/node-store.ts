/** SQL of table node, for whoever asks who is running. */
import type { Queryable } from '../../storage/database.ts'

/** Names of the nodes whose lease has not passed, each once. */
export async function liveNodes(database: Queryable): Promise<readonly string[]> {
  const rows = await database.query(
    'SELECT DISTINCT name FROM node WHERE lease_until_ms > store_time(NULL) ORDER BY name',
  )
  return rows.map((row) => String(row['name']))
}
