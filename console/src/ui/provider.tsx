/** The button that leads to an OpenID Connect provider. */
import { useMutation } from '@tanstack/react-query'
import { t } from '../messages/t.ts'
import { Button } from './button.tsx'
import { Failure } from './states.tsx'

interface ProviderButtonProps {
  readonly provider: string
  readonly begin: () => Promise<{ readonly url: string }>
}

export function ProviderButton({ provider, begin }: ProviderButtonProps) {
  const { mutate, error, isPending } = useMutation({
    mutationFn: begin,
    onSuccess: ({ url }) => location.assign(url),
  })
  return (
    <>
      {error !== null && <Failure error={error} onRetry={() => mutate()} />}
      <Button isBusy={isPending} onClick={() => mutate()}>
        {t('ui.signInWith', { provider })}
      </Button>
    </>
  )
}
