/** The sessions of the admin token of this session. */
import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { api, bodyOf } from '../../api/client.ts'
import { signOut } from '../../api/session.ts'
import { Button } from '../../ui/button.tsx'
import { Badge, Card } from '../../ui/card.tsx'
import { Confirm } from '../../ui/dialog.tsx'
import { Failure, Loading } from '../../ui/states.tsx'
import { Table } from '../../ui/table.tsx'
import { Age, Time } from '../../ui/values.tsx'

export function Sessions() {
  const { data, error, refetch } = useQuery({
    queryKey: ['settings', 'sessions'],
    queryFn: () => bodyOf(api.GET('/admin/v1/sessions')),
  })
  const [isAsking, setIsAsking] = useState(false)
  return (
    <Card
      title="Your sessions"
      hint="Browsers that are signed in with your admin token."
      isFlush={data !== undefined}
      actions={<Button onClick={() => setIsAsking(true)}>Sign out everywhere</Button>}
    >
      {error !== null && <Failure error={error} onRetry={() => void refetch()} />}
      {data === undefined && error === null && <Loading />}
      {data !== undefined && (
        <Table
          caption="Sessions of your admin token"
          rows={data.items}
          rowKey={({ created_at: at }) => at}
          columns={[
            {
              name: 'Signed in',
              cell: ({ created_at: at, current }) => (
                <>
                  <Time at={at} /> {current && <Badge tone="accent">this browser</Badge>}
                </>
              ),
            },
            { name: 'Last used', cell: ({ last_used_at: at }) => <Age at={at} /> },
            { name: 'Ends', cell: ({ expires_at: at }) => <Time at={at} /> },
          ]}
        />
      )}
      <Confirm
        title="Sign out everywhere?"
        action="Sign out everywhere"
        isOpen={isAsking}
        isBusy={false}
        onConfirm={() => void signOut('everywhere')}
        onClose={() => setIsAsking(false)}
      >
        All browsers that use your admin token are signed out, this one too. The token stays valid.
      </Confirm>
    </Card>
  )
}
