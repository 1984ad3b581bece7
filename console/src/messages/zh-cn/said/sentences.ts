/**
 * Sentences of the gateway that have no code: what is wrong with a field, and why it refuses or could not do
 * something. Each is known by its English form; a name in braces stands for any text, `reason` for another
 * sentence.
 */
export const sentences: Readonly<Record<string, string>> = {
  // Fields in general.
  'is missing': '缺失',
  'is given twice': '重复出现',
  'is too long': '过长',
  'is below zero': '低于零',
  'must be text': '必须是文本',
  'must be true or false': '必须是 true 或 false',
  'must be a number': '必须是数字',
  'must be a whole number': '必须是整数',
  'must be a whole number from {min} to {max}': '必须是 {min} 到 {max} 的整数',
  'must be a list': '必须是列表',
  'must be an object': '必须是对象',
  'must be one of {words}': '必须是以下之一：{words}',
  'must be a list of {words}': '必须是由以下各项组成的列表：{words}',
  'must be a list of names; each has {rule}': '必须是名称的列表，每个名称须符合：{rule}',
  'must name at least one, or be left out': '至少写一个，或不写此字段',
  'must have one of the forms that /admin/v1/openapi.json shows':
    '必须是 /admin/v1/openapi.json 所示的形式之一',
  'there is no such field': '没有这个字段',
  'there is no such field in this body': '请求体没有这个字段',
  'there is no such query parameter at this address': '此地址没有这个查询参数',
  'must not contain U+0000': '不能含有 U+0000',
  'must not be empty': '不能为空',
  'must have printable characters only': '只能含有可打印字符',
  'must have printable characters, and not be empty': '必须是可打印字符，且不能为空',
  'must have at most {count} characters': '最多 {count} 个字符',
  'must have at most {count} names': '最多 {count} 个名称',
  'must not have the secret of a key in it': '不能含有密钥的密文',
  'must not look like an id': '不能写成 ID 的形式',
  'must have 1 to 255 printable characters without spaces':
    '必须是 1 至 255 个不含空格的可打印字符',
  'is not supported by this endpoint; changes of an account, a key and the catalogue, and imports of prices, take it':
    '此端点不支持；更改账户、密钥和目录以及导入价格时支持',
  // Amounts, times, names.
  'must be an amount in USD such as 12.50 or -12.50, not 0, at most {most}, with at most 12 decimals':
    '必须是美元金额，例如 12.50 或 -12.50，不能为 0，最多 {most}，最多 12 位小数',
  'must be an amount in USD such as 12.50 or -12.50, not 0, at most {most}, with at most 12 decimals; send one with more than 6 decimals as text':
    '必须是美元金额，例如 12.50 或 -12.50，不能为 0，最多 {most}，最多 12 位小数；超过 6 位小数的请以文本发送',
  'must be an amount in USD above 0, with at most 12 decimals':
    '必须是大于 0 的美元金额，最多 12 位小数',
  'must be an amount in USD from 0 (no limit) to {most}, with at most 12 decimals':
    '必须是 0（无限额）到 {most} 的美元金额，最多 12 位小数',
  'must be an amount in USD from 0 to {most}, with at most 12 decimals':
    '必须是 0 到 {most} 的美元金额，最多 12 位小数',
  'must be a factor such as 1 or 0.85': '必须是倍率，例如 1 或 0.85',
  'must not be 0': '不能为 0',
  'must be true to book this amount': '须为 true 才会入账此金额',
  'the balance must stay between -{least} and {most} USD':
    '余额必须保持在 -{least} 与 {most} 美元之间',
  'must not begin with ex_ or refund:ex_, the prefixes of charges and refunds':
    '不能以 ex_ 或 refund:ex_ 开头，它们是扣费和退款的前缀',
  'must be at most the charge of the request, {amount} USD': '最多为该请求的扣费 {amount} 美元',
  'must be a date': '必须是日期',
  'must be a date such as 2027-01-31, or a time such as 2027-01-31T12:00:00Z':
    '必须是日期（例如 2027-01-31）或时间（例如 2027-01-31T12:00:00Z）',
  'must be a date that exists': '必须是存在的日期',
  'must be a day such as 2027-01-31': '必须是日期，例如 2027-01-31',
  'must be a whole day (UTC)': '必须是完整的一天（UTC）',
  'must be before 9999-12-31': '必须早于 9999-12-31',
  'must be in the future': '必须在未来',
  'must not be in the past': '不能在过去',
  'must be after from': '必须晚于起始时间',
  'must not be before from': '不能早于起始时间',
  'must be at most {days} days before to': '最多比结束时间早 {days} 天',
  'must be a duration such as 4h or 2d': '必须是时长，例如 4h 或 2d',
  'must be a duration such as 30m, 4h or 2d': '必须是时长，例如 30m、4h 或 2d',
  'must be a duration such as 800ms, 30s or 10m, from {min} to {max}':
    '必须是 {min} 到 {max} 的时长，例如 800ms、30s 或 10m',
  'must be one e-mail address such as ops@customer.example, or empty':
    '必须是一个邮箱地址，例如 ops@customer.example，或留空',
  'must be one e-mail address such as ops@example.com, or contact for the contact of each account':
    '必须是一个邮箱地址，例如 ops@example.com，或填 contact 表示各账户的联系人',
  'must be a web address such as https://hooks.example/alerts':
    '必须是网址，例如 https://hooks.example/alerts',
  'must be a web address such as https://vendor.example': '必须是网址，例如 https://vendor.example',
  'must begin with https://': '必须以 https:// 开头',
  'must begin with https:// where a proxy is on the way': '途经代理时必须以 https:// 开头',
  'must begin with https:// unless the host is in a private network, because http:// sends the credential in plain text':
    '除非主机在内网，否则必须以 https:// 开头，因为 http:// 会以明文发送凭证',
  'must hold no user name or password': '不能含有用户名或密码',
  'must hold no user name or password; the secret belongs under credential':
    '不能含有用户名或密码；密文应写在凭证中',
  'must hold no user name or password; write env:NAME or file:/PATH, and the whole address there':
    '不能含有用户名或密码；请写 env:NAME 或 file:/PATH，并在该处写完整的地址',
  'must have no fragment (#)': '不能含有片段（#）',
  'must have no query (?) and no fragment (#)': '不能含有查询（?）和片段（#）',
  'must have no path, query (?) or fragment (#)': '不能含有路径、查询（?）或片段（#）',
  'must have no . or .. between slashes': '斜杠之间不能是 . 或 ..',
  'must be on the internet where a proxy is on the way': '途经代理时必须在互联网上',
  'must not point to a link-local, multicast or unspecified address':
    '不能指向链路本地、组播或未指定的地址',
  'must end before the path of the endpoint, which the gateway appends itself':
    '必须止于端点路径之前，网关会自行补上',
  'must end before the path of the endpoint: the gateway appends /v1/messages or /v1/chat/completions itself':
    '必须止于端点路径之前：网关会自行补上 /v1/messages 或 /v1/chat/completions',
  'must end before /v1, which the gateway appends; write path: "" for an address that has it':
    '必须止于网关会补上的 /v1 之前；若地址已含有它，请将路径写为 ""',
  'must be the address of a proxy such as http://proxy.example:3128':
    '必须是代理的地址，例如 http://proxy.example:3128',
  'is an address in a private network; add allow_private: true if that is meant':
    '是内网地址；若确实如此，请添加 allow_private: true',
  '"{range}" is not an address or network such as 192.0.2.0/24 or 2001:db8::/32':
    '“{range}” 不是地址或网段（例如 192.0.2.0/24 或 2001:db8::/32）',
  // References.
  'must be an id': '必须是 ID',
  'must be the id of a request': '必须是请求的 ID',
  'must be the id of a key': '必须是密钥的 ID',
  'must be the id of a model': '必须是模型的 ID',
  'must be the id of an audit': '必须是审计的 ID',
  'must be the name of a channel': '必须是渠道的名称',
  'must be the name of a vendor': '必须是供应商的名称',
  'must name an account': '请指定账户',
  'must name an alert': '请指定告警',
  'must name a target': '请指定目标',
  'must name a vendor': '请指定供应商',
  'must name a channel': '请指定渠道',
  'must name a channel, or all': '请指定渠道，或填 all',
  'must name a model': '请指定模型',
  'must name a file': '请指定文件',
  'must name a {kind}': '请指定名称（{kind}）',
  'must name at least one range': '至少写一个网段',
  'must name at most {count} ranges': '最多 {count} 个网段',
  'must name at least one model': '至少写一个模型',
  'must name at most {count} models': '最多 {count} 个模型',
  'must name at least one operation': '至少写一个操作',
  'must not hold an empty name': '不能含有空的名称',
  'must be name': '必须是 name',
  'must be key, model or label': '必须是 key、model 或 label',
  'must be a label': '必须是标签',
  'must be time or cost': '必须是 time 或 cost',
  'must be csv': '必须是 csv',
  'must be json or csv': '必须是 json 或 csv',
  'must be day, month or total': '必须是 day、month 或 total',
  'must be a status such as 402 or 4xx': '必须是状态码，例如 402 或 4xx',
  'must be a code of docs/errors.md': '必须是 docs/errors.md 中的错误码',
  'must be an action such as key.revoke, or an area such as key':
    '必须是操作（例如 key.revoke）或领域（例如 key）',
  'must be a figure, or one of the keys in by': '必须是一个数字列，或 by 中的一项',
  'must come with a key in by': '必须与 by 中的一项一起使用',
  'must be total, or a list of {words} with commas':
    '必须是 total，或以逗号分隔的以下各项：{words}',
  'must be absent: the report has more than {count} rows': '必须省略：报表超过 {count} 行',
  'must be the next_cursor of a page': '必须是某一页的 next_cursor',
  'must be the next_cursor of a page in the same order': '必须是同一排序的某一页的 next_cursor',
  'must be the next_cursor of a page of the same report': '必须是同一报表的某一页的 next_cursor',
  'must be a SHA-256 in hex': '必须是十六进制的 SHA-256',
  'must be a SHA-256 as 64 characters of 0-9 and a-f': '必须是由 64 个 0-9、a-f 字符组成的 SHA-256',
  'must be how a secret begins': '必须是密文的开头',
  'must be how a secret begins, such as cr_ab12, ro_ab12 or ad_ab12':
    '必须是密文的开头，例如 cr_ab12、ro_ab12 或 ad_ab12',
  'must be at most the first 7 characters, such as cr_ab12, as lists show them; more of a secret goes in the body of POST /admin/v1/keys/find, never in an address':
    '最多为前 7 个字符，例如列表所示的 cr_ab12；更多的密文只能放在 POST /admin/v1/keys/find 的请求体中，不能放在地址中',
  'unknown: {names}; {advice}': '未知：{names}；{advice}',
  "needs the vendor's files; their result is what you accept": '需要供应商的文件；您接受的是其结果',
  'goes to the contacts of accounts, which get no test message':
    '发往各账户的联系人，他们不会收到测试消息',
  // The catalogue.
  'must be a mapping with {fields}': '必须是含有 {fields} 的映射',
  'must be a mapping such as {example}': '必须是映射，例如 {example}',
  'must be a mapping of names to {section}': '必须是名称到 {section} 的映射',
  'must be a mapping of names to { multiplier: 0.5 }, or to their own prices':
    '必须是名称到 { multiplier: 0.5 } 或其自身价格的映射',
  'must be a mapping with its own prices, or a factor such as { multiplier: 0.5 }':
    '必须是含有自身价格的映射，或倍率，例如 { multiplier: 0.5 }',
  'must be a mapping of models to { p50: 800ms, p95: 2s }':
    '必须是模型到 { p50: 800ms, p95: 2s } 的映射',
  'must be a list of models, or a mapping of models to their names at the vendor':
    '必须是模型的列表，或模型到其在供应商处名称的映射',
  'must be an object with {section} by name': '必须是按名称列出 {section} 的对象',
  "must be the vendor's name for the model": '必须是供应商对该模型的名称',
  'must be p50 and p95': '必须是 p50 和 p95',
  'must be text; put it in quotes': '必须是文本；请加上引号',
  'must be text, such as "{example}"': '必须是文本，例如 "{example}"',
  'must be text without spaces, such as "{example}"': '必须是不含空格的文本，例如 "{example}"',
  'must be text without line breaks, characters outside ASCII, or spaces at its ends':
    '必须是不含换行、非 ASCII 字符和首尾空格的文本',
  'must have no spaces, line breaks or characters outside ASCII':
    '不能含有空格、换行和非 ASCII 字符',
  'must have no line breaks or characters outside ASCII': '不能含有换行和非 ASCII 字符',
  'must have a name of letters, digits and {signs}': '名称只能含有字母、数字和 {signs}',
  'must be a path such as /v1 or /api/paas/v4, or empty: "" for no path before that of the endpoint':
    '必须是路径，例如 /v1 或 /api/paas/v4，或留空：端点路径之前没有路径时写 ""',
  'must be env:NAME, file:/PATH, or the secret itself (apply seals it)':
    '必须是 env:NAME、file:/PATH，或密文本身（应用时加密）',
  'must name an environment variable after env:, in letters, digits and _':
    'env: 之后必须是环境变量的名称，只含字母、数字和 _',
  'must name a file after file: by its whole path, beginning with /':
    'file: 之后必须是文件的完整路径，以 / 开头',
  'must be another header: HTTP, the credential or the gateway uses this one':
    '必须是其他请求头：HTTP、凭证或网关使用此请求头',
  'must be a header of the vendor; the gateway or HTTP uses that name':
    '必须是供应商的请求头；网关或 HTTP 使用该名称',
  'must be the name of a header, such as anthropic-version':
    '必须是请求头的名称，例如 anthropic-version',
  'must be the name of a beta such as some-beta-2026-01-15, or its beginning with * behind it':
    '必须是 Beta 的名称，例如 some-beta-2026-01-15，或其开头加 *',
  'must be a list of betas such as [some-beta-2026-01-15, other-beta-*]':
    '必须是 Beta 的列表，例如 [some-beta-2026-01-15, other-beta-*]',
  'must be { factor: 0.8 } for a factor on list prices, or a mapping of models to their prices':
    '必须是标价的系数 { factor: 0.8 }，或模型到其价格的映射',
  'must be a factor from 0, with at most 6 decimals': '必须是不小于 0 的系数，最多 6 位小数',
  'must be the revision that an answer or an export has': '必须是应答或导出中的 revision',
  'must be the revision that an export has written; leave it out of a new file':
    '必须是导出所写的 revision；新文件中请省略',
  'is not one of this store; read the catalogue again': '不属于此存储；请重新读取目录',
  'is for vendors of the messages format; write path': '用于 messages 格式的供应商；请写 path',
  'is for models of the chat format; leave it out': '用于 Chat 格式的模型；请省略',
  'is not a whole number of pico-dollars (10⁻¹² USD)': '不是整数个皮美元（10⁻¹² 美元）',
  'there is no vendor {name}': '没有供应商 {name}',
  'there is no model {name}': '没有模型 {name}',
  'there is no vendor {name} (did you mean {nearest}?)': '没有供应商 {name}（是否指 {nearest}？）',
  'there is no model {name} (did you mean {nearest}?)': '没有模型 {name}（是否指 {nearest}？）',
  'There is a {kind} {name} already. Nothing was changed. Change it instead.':
    '{name}（{kind}）已存在。未做任何更改。请改为更改它。',
  'There is no {kind} {name} in the catalogue.': '目录中没有 {name}（{kind}）。',
  'There is no vendor {name} in the catalogue.': '目录中没有供应商 {name}。',
  'There is no model {name} in the catalogue.': '目录中没有模型 {name}。',
  'There is no model {name} in the list.': '列表中没有模型 {name}。',
  'Nothing was applied, because the file has mistakes:\n{mistakes}':
    '文件有错误，未应用任何更改：\n{mistakes}',
  'Nothing was imported, because some prices cannot be taken:\n{mistakes}':
    '部分价格无法采用，未导入任何价格：\n{mistakes}',
  'The file is not a price list: {reason}.': '该文件不是价格列表：{reason}。',
  'The new credential did not serve a request: {reason}. Nothing was changed. Give another one, or save it untested with force.':
    '新凭证未能完成请求：{reason}。未做任何更改。请提供其他凭证，或不测试直接保存。',
  'There is no former credential of {channel}: it is kept for 24 hours.':
    '{channel} 没有原凭证：原凭证只保留 24 小时。',
  'The former credential of {channel} belongs to another address. Nothing was changed. Give it anew.':
    '{channel} 的原凭证属于另一个地址。未做任何更改。请重新填写。',
  'the account {account} and its keys were made for the demo, and end with its catalogue; to keep it: {commands}':
    '账户 {account} 及其密钥是为演示生成的，将随演示的目录一同结束；若要保留：{commands}',
  'model {model} has no price; it is served when it has one':
    '模型 {model} 没有价格；有价格之后才提供服务',
  'model {model} has no output price; it serves nothing but embeddings':
    '模型 {model} 没有输出价格；只提供嵌入',
  'model {model} has no channel; requests for it are refused':
    '模型 {model} 没有渠道；对它的请求会被拒绝',
  'channel {channel}: {variable} is not set here; the gateway needs it to use the channel':
    '渠道 {channel}：此处未设置 {variable}；网关需要它才能使用该渠道',
  'channel {channel}: {file} here; the gateway needs it to use the channel':
    '渠道 {channel}：此处的 {file}；网关需要它才能使用该渠道',
  'models without {field}: {names}; {consequence}; set it, or fill it in with turnpike price import':
    '没有 {field} 的模型：{names}。其请求按网关的默认上限预扣。请设置它，或用 turnpike price import 填入',
  // Accounts, keys, money.
  'Give at least one change.': '请至少更改一项。',
  'Give at least one thing to change.': '请至少更改一项。',
  'The account {account} has the external id {id} already.': '账户 {account} 已使用外部 ID {id}。',
  'There is an account named {name} already.': '已有名为 {name} 的账户。',
  'There is no account {account}. List them with: turnpike account list': '没有账户 {account}。',
  'The account {account} is closed and takes no credits. Nothing was booked. Reopen it first, with: turnpike account reopen NAME':
    '账户 {account} 已关闭，不能充值。未入账。请先重新开启。',
  'The account {account} is closed and gets no keys. Reopen it first, with: turnpike account reopen NAME':
    '账户 {account} 已关闭，不能创建密钥。请先重新开启。',
  'The reference {reference} is in use for {use} Nothing was booked. Use a new reference.':
    '参考号 {reference} 已被使用：{use} 未入账。请使用新的参考号。',
  'This would make the balance {balance} USD. Nothing was booked.':
    '这会使余额成为 {balance} 美元。未入账。',
  'This is more than {times} times the largest credit of the account so far, {amount} USD. Nothing was booked.':
    '这超过该账户迄今最大一笔充值 {amount} 美元的 {times} 倍。未入账。',
  'The key {key} is revoked. Create a new one.': '密钥 {key} 已被撤销。请创建新的密钥。',
  'There is no {kind} with the id {id}.': '没有 ID 为 {id} 的密钥或令牌。',
  '{id} is a secret, not an id. turnpike {kind} list shows its id.': '{id} 是密文，不是 ID。',
  'There is no key {key}. turnpike key list shows keys.': '没有密钥 {key}。',
  'There is no key {key}.': '没有密钥 {key}。',
  '{id} is {kind}, not {wanted}.{advice}': '{id} 属于另一种密钥或令牌，不能用于此处。',
  'This account no longer exists.': '此账户已不存在。',
  'The answer would have more than {count} lines. Ask for fewer days.':
    '结果将超过 {count} 行。请缩短期间。',
  'takes at most {count} requests; ask for fewer days': '最多 {count} 个请求；请缩短期间',
  'There is no admin token with the role owner. Create one: turnpike admin-token create':
    '没有 owner 角色的管理令牌。请创建一个：turnpike admin-token create',
  'The request {request} was not charged. There is nothing to refund.':
    '请求 {request} 未扣费，没有可退的金额。',
  'There is no record of a charged request {request}. Records are kept for request_retention. To give back an older charge, use: turnpike account credit NAME USD --reference REF':
    '没有已扣费的请求 {request} 的记录。记录只保留 request_retention 的时间。若要退还更早的扣费，请给账户充值。',
  "Several requests have the vendor's id {id}: {ids}. Name one of them by this id.":
    '多个请求有供应商的 ID {id}：{ids}。请用其中一个 ID。',
  '{refund} of the request {request}. A request is refunded once; nothing was booked.':
    '请求 {request} 已退款（{refund}）。一个请求只能退款一次；未入账。',
  'With this refund the balance would be above {most} USD. Nothing was booked.':
    '此退款会使余额超过 {most} 美元。未入账。',
  'There is no request {request} of this account. Requests are kept for some time, and appear when they end.':
    '此账户没有请求 {request}。请求只保留一段时间，并在结束后出现。',
  'There is no request {request}. Callers without a valid key leave no record. Of many refused requests of a key within a minute, only the first have a record each.':
    '没有请求 {request}。没有有效密钥的调用不留记录。一个密钥在一分钟内有许多请求被拒绝时，只有最初的几个各有记录。',
  'There is no request {request}. Requests are kept from {time} on. Callers without a valid key leave no record. Of many refused requests of a key within a minute, only the first have a record each.':
    '没有请求 {request}。请求从 {time} 起保留。没有有效密钥的调用不留记录。一个密钥在一分钟内有许多请求被拒绝时，只有最初的几个各有记录。',
  'Give one of account, key and channel.': '请给出账户、密钥、渠道之一。',
  'There are {count} notes already. Delete one that is not needed.':
    '已有 {count} 条备注。请删除不需要的一条。',
  'There is no note {note}.': '没有备注 {note}。',
  'Give either head or hash.': '请给出 head 或 hash 之一。',
  'The Idempotency-Key {key} is in use for another request. Nothing was changed. Use a new one.':
    'Idempotency-Key {key} 已用于另一个请求。未做任何更改。请使用新的。',
  'It has changed since you read it. Nothing was changed. Read it again, and decide again.':
    '您读取之后它已被修改。未做任何更改。请重新读取后再决定。',
  // Alerts, audits, reconciliation, the store.
  'Give one of for and until.': '请给出 for 或 until 之一。',
  'No alert {alert} is firing. List those that are with: turnpike alert firing':
    '告警 {alert} 未在触发。',
  'There are {count} targets already. Delete one that is not needed.':
    '已有 {count} 个目标。请删除不需要的一个。',
  'There is no alert target {target}. List them with: turnpike alert list':
    '没有告警目标 {target}。',
  'There is an alert target named {name} already.': '已有名为 {name} 的告警目标。',
  'The address of the target cannot be opened: {reason}. Delete the target and create it again.':
    '无法解密目标的地址：{reason}。请删除该目标并重新创建。',
  'There is no audit {audit}. turnpike audit list shows those of the last 90 days.':
    '没有审计 {audit}。审计只保留 90 天。',
  'A full audit is running on this gateway already. Wait until GET /admin/v1/audits shows its result.':
    '此网关已在运行完整审计。请等待其结果。',
  'There is no channel {channel}.': '没有渠道 {channel}。',
  'There is no reconciliation {id}.': '没有对账 {id}。',
  "The vendor's counts cannot be read: {reason}.": '无法读取供应商的计数：{reason}。',
  'exchanges before {time} are no longer kept': '{time} 之前的请求已不再保留',
  '{reason}; choose a later period': '{reason}；请选择更晚的期间',
  "{reason}; compare a vendor's counts from that day on": '{reason}；请从该日起核对供应商的计数',
  'the same file is given twice': '同一文件给出了两次',
  'the file is empty': '文件为空',
  'it is not JSON: {fault}': '不是 JSON：{fault}',
  'it is not CSV: {fault}': '不是 CSV：{fault}',
  'it has more than {count} columns': '超过 {count} 列',
  'it must be an object with one entry per model': '必须是每个模型一项的对象',
  'it must be an array of objects, or pages of a vendor’s API':
    '必须是对象的数组，或供应商 API 的各页',
  'column {name} is in the heading twice': '表头中有两个 {name} 列',
  'row {row} does not have as many cells as the heading': '第 {row} 行的单元格数与表头不符',
  '{row} is partly outside the period; export whole days (UTC)':
    '{row} 有一部分在期间之外；请导出完整的日期（UTC）',
  '{row}there are more than {count} models or fields': '{row}模型或字段超过 {count} 个',
  '{row} must be a whole number': '{row} 必须是整数',
  '{row} must be in USD': '{row} 必须以美元计',
  '{row} must be an amount': '{row} 必须是金额',
  'model is missing; export the figures by model (group_by of an API)':
    '缺少模型；请按模型导出数字（API 的 group_by）',
  'output has no price; the model then serves embeddings only': '输出没有价格；该模型将只提供嵌入',
  'The disk of the store has {left} bytes left, and this copy needs twice the size of the store, {needed} bytes. Use turnpike backup on the host of the gateway, with a file on another disk.':
    '存储所在的磁盘剩余 {left} 字节，而此副本需要存储大小的两倍，即 {needed} 字节。请在网关的主机上使用 turnpike backup，将文件写到另一个磁盘。',
  'This gateway is making or sending a backup already. Try again when that one is complete.':
    '此网关已在生成或发送备份。请在其完成后重试。',
  'The store is on PostgreSQL. Back it up and restore it with the tools of PostgreSQL: pg_basebackup with a WAL archive, or pg_dump. After a restore run: turnpike audit':
    '存储在 PostgreSQL 上。请用 PostgreSQL 的工具备份和恢复：pg_basebackup 加 WAL 归档，或 pg_dump。恢复之后请运行：turnpike audit',
  // Deliveries.
  accepted: '已接受',
  'answered {status}': '应答 {status}',
  'answered {status}; redirects are not followed': '应答 {status}；不跟随重定向',
  'no answer within {seconds} s': '{seconds} 秒内没有应答',
  'the connection failed ({code})': '连接失败（{code}）',
  'the address is not public; list its network in alert_networks if it is yours':
    '该地址不是公网地址；若属于您，请将其网段加入 alert_networks',
  'the URL must begin with https://': 'URL 必须以 https:// 开头',
  'there is no mail server: set smtp and smtp_from': '没有邮件服务器：请设置 smtp 和 smtp_from',
  'the mail server answered {status}': '邮件服务器应答 {status}',
  'the mail server did not answer within {time}': '邮件服务器在 {time} 内没有应答',
  'the mail server cannot be reached ({code})': '无法连接邮件服务器（{code}）',
  'too many messages wait for this target': '等待发往此目标的消息过多',
  'the target was deleted': '目标已被删除',
  // Checks and tests of channels.
  'it has not answered within {seconds} s': '在 {seconds} 秒内没有应答',
  'it has not finished within {seconds} s': '在 {seconds} 秒内没有完成',
  'no model of this channel has a price': '此渠道没有带价格的模型',
  'the channel serves no model {model} that has a price': '此渠道没有带价格的模型 {model}',
  'not booked: the catalogue has no channel of this name yet': '未入账：目录中还没有该名称的渠道',
  'the cost is not known: the counts make no sense': '费用未知：计数不合理',
  'it has no price; give it one in the catalogue': '它没有价格；请在目录中为它设置价格',
  'its stored credential is not sealed; apply the catalogue again':
    '其存储的凭证未加密；请重新应用目录',
  'its stored prices cannot be read by this version of the program; apply the catalogue again':
    '本程序的版本无法读取其存储的价格；请重新应用目录',
  'its credential cannot be opened: {reason}': '无法解密其凭证：{reason}',
  'the channel or its vendor is retired': '该渠道或其供应商已停用',
}
