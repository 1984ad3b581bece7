/** What alerts say, by kind, from their facts; and the other steps that need an operator. */
export const alerts = {
  account: {
    running_out: {
      title: '账户 {account} 的余额约可再用 {hours_left} 小时',
      text: `账户 {account} 在过去 24 小时内消费了 {spend_24h_usd} 美元。照此速度，其余额 {balance_usd} 美元{credit_line_usd, select,
        0 {}
        other {（含信用额度 {credit_line_usd} 美元）}}约在 {hours_left} 小时后用尽。请充值。`,
    },
    balance_low: {
      title: '账户 {account} 余额不足：{balance_usd} 美元',
      text: '账户 {account} 的余额低于 {alert_below_usd} 美元。请充值。',
    },
    exhausted: {
      title: '账户 {account} 的余额已用尽',
      text: `账户 {account} 的余额 {balance_usd} 美元{credit_line_usd, select,
        0 {}
        other {（含信用额度 {credit_line_usd} 美元）}}不足以支付其请求，请求将返回 402。请充值。`,
    },
    limit_used: {
      title: '账户 {account} 已使用{limit_of, select, day {每日} other {每月}}限额的 {step}%',
      text: '账户 {account} 已消费{limit_of, select, day {每日} other {每月}}限额 {limit_usd} 美元中的 {used_usd} 美元。达到限额后，到{limit_of, select, day { UTC 00:00 } other {下个月（UTC）开始}}为止，其请求将返回 429。',
    },
    daily_limit_reached: {
      title: '账户 {account} 已达到每日限额',
      text: '账户 {account} 已消费每日限额 {limit_usd} 美元中的 {used_usd} 美元。到 UTC 00:00 为止，其请求将返回 429。请提高限额，或等待。',
    },
    monthly_limit_reached: {
      title: '账户 {account} 已达到每月限额',
      text: '账户 {account} 已消费每月限额 {limit_usd} 美元中的 {used_usd} 美元。到下个月（UTC）开始为止，其请求将返回 429。请提高限额，或等待。',
    },
    money_taken_back: {
      title: '账户 {account} 已暂停：一笔付款被退回',
      text: '付款 {payment} 的退款或争议使账户 {account} 的余额变为 {balance_usd} 美元，低于其额度。请与客户结清，然后恢复该账户。',
    },
    short: {
      title:
        '{state, select, exhausted {账户 {account} 没有余额} other {账户 {account} 的余额少于昨天以来的消费}}',
    },
  },
  key: {
    limit_reached: {
      title: `账户 {account} 的密钥 {key_name, select, none {{key_head}} other {{key_name}}} 已达到限额（{period, select,
        total {累计}
        other {{period}}}）`,
      text: `账户 {account} 的密钥 {key_name, select, none {{key_head}} other {{key_name}}}（{key_id}）已消费限额 {limit_usd} 美元中的 {used_usd} 美元。{period, select,
        total {在提高限额之前}
        other {到下一周期（UTC）开始为止}}，其请求将返回 429。`,
    },
  },
  channel: {
    off: {
      title: '渠道 {channel} 的 {models} 已停用',
      text: '网关不再向渠道 {channel} 发送 {models} 的请求，因为它们在该处失败。网关会探测该渠道，并自行重新启用。',
    },
    credential_refused: {
      title: '供应商拒绝 {channel} 的凭证',
      text: '供应商拒绝渠道 {channel} 的凭证或账户。请换上有效的凭证，或设置凭证所指的变量。',
      step: '请在目录中为 {channel} 填入有效的凭证并应用。',
    },
    certificate_expired: {
      title: '{channel} 的供应商证书已过期',
      text: '网关不再向渠道 {channel} 发送请求，因为其地址的证书已过期。请供应商更新证书，并检查本机的时钟；网关会自行重新启用该渠道。',
      step: '请供应商更新证书，然后检查渠道 {channel}。',
    },
    certificate_refused: {
      title: '{channel} 的供应商证书不可信任',
      text: '网关不再向渠道 {channel} 发送请求：其地址的证书属于其他名称，或由本机不信任的机构签发。请检查地址、域名服务器和途中的代理；用 NODE_EXTRA_CA_CERTS 可添加机构。',
      step: '请检查 {channel} 的地址和受信任的机构，然后检查该渠道。',
    },
    address_refused: {
      title: '{channel} 的地址指向不允许的位置',
      text: '网关不再向渠道 {channel} 发送请求：其地址的名称指向未设置 allow_private 的内网，或以明文通往互联网。请检查地址和域名服务器。',
      step: '请检查 {channel} 的地址指向何处，然后检查该渠道。',
    },
    no_credit: {
      title: '{channel} 的供应商账户没有余额',
      text: '渠道 {channel} 的供应商账户的余额或消费限额已用尽。请在供应商处充值或提高限额；网关会自行重新启用该渠道。',
      step: '请在供应商处充值，然后检查渠道 {channel}。',
    },
    model_missing: {
      title: '{channel} 的供应商不认识 {models}',
      text: '目录在渠道 {channel} 下列有 {models}，而其供应商不认识该模型。请在目录中更正名称，或从渠道中去除该模型。',
      step: '请在目录中更正 {channel} 的模型并应用。',
    },
    cache_fallen: {
      title:
        '{channel} 的提示词缓存为 {models} 提供 {hit_rate, select, none {0%} other {{hit_rate, number, percent}}}，此前一周为 {week_hit_rate, number, percent}',
      text: '今天渠道 {channel} 上 {models} 的输入有 {hit_rate, select, none {0%} other {{hit_rate, number, percent}}} 来自供应商的缓存；此前七天为 {week_hit_rate, number, percent}。未缓存的输入费用更高。请查找改变提示词开头的请求，以及在渠道之间切换的会话。',
    },
    limit_ignored: {
      title: '{channel} 不遵守 {models} 的 {fields}',
      text: '渠道 {channel} 上 {models} 的一个应答超过了其请求的 {fields} 所允许的长度。它按交付的内容扣费，网关从现在起按模型可能输出的最多内容预扣。请在目录中将供应商遵守的字段列为该渠道的 output_limit。',
      step: '请在目录中设置 {channel} 的 output_limit 并应用。',
    },
    counts_high: {
      title: '{channel} 计得的输入是平常的 {ratio} 倍',
      text: '渠道 {channel} 上最近 20 个纯文本提示词计得的数量是其文本通常数量的 {ratio} 倍。客户端按供应商的计数付费。请将一些请求与供应商自己的账单核对，在二者一致之前手动停用该渠道。',
    },
    not_on: {
      title: `{state, select,
        none {没有网关能够加载渠道 {channel}}
        other {渠道 {channel} 上的 {model} {state, select,
          off {已停用}
          disabled {已手动停用}
          trial {处于试运行}
          ramp {正在逐步恢复}
          slow {缓慢}
          other {状态不明}}{why, select, none {} other {（{why}）}}}}`,
    },
  },
  model: {
    reserve_only: {
      title: '{model} 仅由备用渠道提供',
      text: '模型 {model} 的主路由没有可用的渠道，由备用渠道提供。请查看其渠道。',
    },
    no_usable_channel: {
      title: '没有渠道提供 {model}',
      text: '模型 {model} 没有可用的渠道，其请求返回 503。请查看其渠道；若有渠道无法加载，请运行诊断。',
    },
  },
  ledger: {
    audit_failed: {
      title: `{differences, select,
        none {账目审计未能运行}
        other {账目审计发现 {differences} 处差异}}`,
      text: `{differences, select,
        none {{actor} 的账目审计未能运行，新的差异不会被发现。审计会指出故障。请试试现在能否运行。}
        other {余额或数字与账目不符。完整审计会指出每处差异。请保留备份，并参阅 docs/operating.md。}}`,
    },
    not_sealed: {
      title: '{hours, select, none {账目从未封存} other {账目已有 {hours} 小时未封存}}',
      text: '有分录在等待封存，账户持有人暂时无法证明这些分录。扣费和余额不受影响。诊断会指出账目的签名密钥能否打开；其他故障见网关的日志。',
    },
  },
  store: {
    outage: {
      title: '存储对 {node} 没有应答',
      text: '网关 {node} 无法访问其存储。在存储应答之前，请求返回 503。请检查数据库及其磁盘。',
    },
  },
  payment: {
    not_booked: {
      title: '付款 {payment} 未入账',
      text: `Stripe 已收到 {amount}。{reason, select,
        unknown_account {该付款未指明本网关的任何账户。}
        foreign_currency {该付款不是美元。}
        other {账本拒绝入账：其参考号已被使用，或余额会过大。}}请以参考号 stripe:{payment} 为正确的账户手动入账，或在 Stripe 退款。`,
    },
  },
  backup: {
    too_old: {
      title: '{hours, select, none {没有备份} other {上次备份是 {hours} 小时前}}',
      text: '{hours, select, none {没有备份的记录。} other {上次备份是 {hours} 小时前。}}请做一次备份。',
    },
  },
  node: { unclean_stop: { title: '{node} 未正常停止' } },
  alert: {
    test: {
      title: '告警目标 {target} 的测试',
      text: '这是运营人员为确认告警能否送达而发送的消息，无需处理。',
      step: '无需处理：这是一次测试。',
    },
  },
}
