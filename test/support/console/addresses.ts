/** The routes of the console, for tests that look at every page. */

/** Routes of the console, each with an address; `$request` stands for a request that has failed over. */
export const addresses: Readonly<Record<string, string>> = {
  '/': '/',
  '/accounts': '/accounts',
  '/accounts/$account': '/accounts/northwind-support',
  '/keys': '/keys',
  '/codes': '/codes',
  '/requests': '/requests',
  '/requests/$request': '/requests/$request',
  '/channels': '/channels',
  '/channels/$channel': '/channels/anthropic-eu',
  '/models': '/models',
  '/reports': '/reports',
  '/reconciliation': '/reconciliation',
  '/alerts': '/alerts',
  '/audit': '/audit',
  '/settings': '/settings',
  $: '/no/such/page',
}
