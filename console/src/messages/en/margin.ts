/** Words of the money equation: how the margin comes about. Only operators see it. */
export const margin = {
  equation: 'From spend to margin',
  unknownCost:
    '{count, plural, one {One request was} other {# requests were}} served by channels without cost prices. Their spend is no part of the margin.',
  spend: 'Spend',
  spendMeaning: 'What accounts were charged, before refunds.',
  refunds: 'Refunds',
  refundsMeaning: 'Charges that went back to accounts, on the day of the charge.',
  ownCost: 'Own cost',
  ownCostMeaning: 'What vendors counted, at the cost prices of the channels.',
  lost: 'Lost attempts and checks',
  lostMeaning: 'Estimated: attempts and answers that no account pays, and checks of channels.',
  ofUnknownCost: 'Of unknown cost',
  ofUnknownCostMeaning: 'Spend less refunds of requests on channels without cost prices.',
  margin: 'Margin',
  marginMeaning: 'What is left of the spend after all the others.',
} as const
