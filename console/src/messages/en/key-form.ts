/** Words of the form of a key, for operators and for members. */
export const keyForm = {
  addresses: 'Addresses',
  addressesHint:
    'Addresses or networks such as 192.0.2.0/24, one on each line; empty for every address',
  budgetsHint: 'Budgets in USD; 0 for none',
  chosen: 'Chosen models',
  chosenModels: 'Only the ones chosen here',
  everyModel: 'Every model, also later ones',
  expires: 'Expires',
  expiresHint: 'Works until its end (UTC); empty for no end',
  keyNameHint: 'Such as production',
  lostSecret:
    'It was made before, but the answer with its secret was lost. Revoke it and make another.',
  models: 'Models',
  name: 'Name',
  perDay: 'Per day',
  perMonth: 'Per month',
  ratesHint: 'Limits per minute; 0 for none',
  requests: 'Requests',
  setVariables: 'Set these variables; the SDKs and agents of these formats read them.',
  shellVariables: 'Variables for a shell',
  tokens: 'Tokens',
  total: 'Total',
} as const
