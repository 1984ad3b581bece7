/**
 * Opens a request by the id in its answer's header, or by the vendor's own id. A secret, which people paste
 * too, opens its key.
 */
import { useNavigate } from '@tanstack/react-router'
import { Search } from 'lucide-react'
import { useState, type FormEvent } from 'react'
import { useSecretSearch } from '../../api/secret-search.ts'
import { Button } from '../../ui/button.tsx'

export function FindById() {
  const navigate = useNavigate()
  const [id, setId] = useState('')
  const { take, openHead } = useSecretSearch()
  const open = (event: FormEvent): void => {
    event.preventDefault()
    const request = id.trim()
    if (request === '' || openHead(request)) return
    void navigate({ to: '/requests/$request', params: { request } })
  }
  return (
    <form className="requests-find" role="search" onSubmit={open}>
      <input
        className="input"
        type="search"
        aria-label="Id of a request, ours or the vendor's"
        placeholder="ex_… or req_…"
        autoComplete="off"
        spellCheck={false}
        value={id}
        onChange={({ target }) => setId(take(target.value) ? '' : target.value)}
      />
      <Button type="submit">
        <Search aria-hidden /> Find
      </Button>
    </form>
  )
}
