/** Sentences without a code, by their English form: of audits, files of a vendor, and imports of prices. */
export const books: Readonly<Record<string, string>> = {
  // Files of a vendor, and imports of prices.
  'a page must have objects in data and results': '页的 data 和 results 中必须是对象',
  'a time bucket has no start and end that can be read': '有时间段没有可读取的开始和结束',
  'a row has no start and end that can be read': '有一行没有可读取的开始和结束',
  'a row is of the day {day}; write days as 2027-01-31':
    '有一行的日期为 {day}；日期请写成 2027-01-31',
  '{class} has no price in the list; it gets the default price':
    '列表中没有 {class} 的价格；它使用默认价格',
  'the prices from {time} stay as they are': '自 {time} 起的价格保持不变',
  'max_output_tokens stays as it is; the list has {count}':
    'max_output_tokens 保持不变；列表中为 {count}',
  '{name} loses its prices, because they do not fit the long-context prices':
    '{name} 的价格不再保留，因为与长上下文价格不符',
  '{name} loses its prices, because they do not fit the price of output':
    '{name} 的价格不再保留，因为与输出价格不符',
  // Differences of an audit.
  '{reason}: stored {stored}, derived {derived}': '{reason}：存储值 {stored}，推算值 {derived}',
  'the balance differs from the sum of its entries': '余额与其账目之和不一致',
  'the balance is below zero and the credit line, and no marked charge and no adjustment explains it':
    '余额低于零且超出信用额度，而没有带标记的扣费或调整可以解释',
  'the held amount differs from the sum of the open holds': '预扣金额与未结预扣之和不一致',
  'exchange {id} has ended and still holds money': '请求 {id} 已结束但仍占用预扣',
  'the hold of {id} is older than any exchange can be': '{id} 的预扣早于任何请求可能的时间',
  'the trigger {name}, which protects the ledger from edits, is missing':
    '缺少保护账本不被修改的触发器 {name}',
  'rows of {table} are recorded for an account that does not exist':
    '表 {table} 中有属于不存在的账户的行',
  'entries are missing from the ledger': '账本缺少账目',
  'a {kind} takes money away': '类型为 {kind} 的账目扣走了金额',
  '{kind} {reference} differs from the request that was booked under this reference':
    '{kind} {reference} 与以此参考号入账的请求不一致',
  'charge {reference} belongs to no recorded exchange': '扣费 {reference} 不属于任何有记录的请求',
  'exchange {id} and the ledger disagree whether it was charged':
    '请求 {id} 是否已扣费，其记录与账本不一致',
  'exchange {id} was charged another amount than it cost': '请求 {id} 的扣费金额与其费用不一致',
  'exchange {id} was charged although no channel answered it': '请求 {id} 没有渠道应答却已扣费',
  'the price lines of exchange {id} do not add up to its amount':
    '请求 {id} 的价格明细之和与其金额不一致',
  'the price lines of exchange {id} have other counts than its usage':
    '请求 {id} 的价格明细与其用量的计数不一致',
  'figures of {table} for {key}': '表 {table} 中 {key} 的数字',
  'figures of {table} for {key} differ from the charges of that day':
    '表 {table} 中 {key} 的数字与当天的扣费不一致',
  'refund {reference} is more than the charge it belongs to': '退款 {reference} 超过其所属的扣费',
}
