/** What a form shows when another operator has changed the thing since it was read. */
import { useState } from 'react'
import { Problem } from '../problem.ts'
import { Button } from './button.tsx'
import { Notice } from './card.tsx'

const preconditionFailed = 412

interface OutdatedState {
  readonly isOutdated: boolean
  /** Passes on what the change gives, and notes a refusal because of its `If-Match`. */
  readonly watch: <Value>(change: Promise<Value>) => Promise<Value>
  readonly clear: () => void
}

export function useOutdated(): OutdatedState {
  const [isOutdated, setIsOutdated] = useState(false)
  return {
    isOutdated,
    async watch(change) {
      try {
        return await change
      } catch (error) {
        if (error instanceof Problem && error.status === preconditionFailed) setIsOutdated(true)
        throw error
      }
    },
    clear: () => setIsOutdated(false),
  }
}

export function Outdated({ onLoad }: { onLoad: () => Promise<void> }) {
  return (
    <Notice tone="warn">
      <div className="stack">
        Load it again to see the change. What you have typed here is lost.
        <div>
          <Button onClick={() => void onLoad()}>Load again</Button>
        </div>
      </div>
    </Notice>
  )
}
