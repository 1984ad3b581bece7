/** What the doctor finds, by code. Commands stay as they are. */
import { alerts } from './alerts.ts'

const rest = '{rest, select, 0 {} other { 等另外 {rest} 个}}'

export const doctor = {
  store_unreachable: '无法访问存储。（{reason}）',
  store_outdated:
    '存储的结构版本为 {version}，缺少本程序需要的更改。请用上次使用它的版本做备份，然后运行：turnpike migrate',
  store_unwritable: '存储无法写入，因此无法对请求扣费。（{reason}）',
  store_writable: '存储可写，结构版本为 {version}。',
  unlisted_proxy: `发往网关 {gateway} 的请求由 {names}${rest} 转发，而 trusted_proxies 中没有它们。经过这样的代理的所有客户端都算作一个地址。若是您的代理，请将其加入 trusted_proxies 并重新启动网关。`,
  learned_waits: `已学得 {names}${rest} 的静默时间限制，见：turnpike channel show NAME`,
  usage_refused:
    '渠道 {channel} 拒绝 stream_options，而网关用它请求流式用量。在一天之内网关不再为其流式请求用量，可能按估算扣费。若不再请求，请在目录中写 stream_usage: never。',
  audit_passed:
    '自上次检查点以来的账目审计通过：{accounts} 个账户，{entries} 笔账目。上次完整审计于 {at} {result, select, passed {通过} failed {未通过} other {未能运行}}。完整审计请运行：turnpike audit',
  audit_passed_alone:
    '自上次检查点以来的账目审计通过：{accounts} 个账户，{entries} 笔账目。没有完整审计的记录。完整审计请运行：turnpike audit',
  audit_failed:
    '账目审计未通过：{differences} 处差异。请先复制存储，再做其他事情。详情请运行：turnpike audit',
  signing_key_unreadable:
    '账目的签名密钥无法打开：{reason}。请换回原来的主密钥，或创建新的签名密钥：turnpike signing-key rotate',
  catalogue_empty: '目录为空。请写一个文件并运行：turnpike apply -f catalog.yaml',
  catalogue_ready: '可以提供服务：{vendors} 个供应商，{models} 个模型，{channels} 个渠道。',
  out_of_service:
    '{kind, select, model {模型} channel {渠道} other {供应商}} {name} 不提供服务：{reason}。',
  model_without_channel: '模型 {model} 没有渠道。请在目录中添加一个并应用。',
  model_out_of_service:
    '模型 {model} 的全部渠道都不提供服务（{names}）。请参阅有关它们的检查结果。',
  model_disabled: '模型 {model} 的全部渠道都已手动停用。请运行：turnpike channel on NAME',
  model_without_reserve: '模型 {model} 只有一个启用的渠道，没有备用。请添加第二个渠道，以便接替。',
  max_input_tokens: `没有 max_input_tokens 的模型：{names}${rest}。其请求的输入按网关的默认上限预扣，供应商计得的输入可能更多。请设置它，或用 turnpike price import 填入。`,
  max_output_tokens: `没有 max_output_tokens 的模型：{names}${rest}。没有字段限制其输出的请求按网关的默认上限预扣。请设置它，或用 turnpike price import 填入。`,
  channel: {
    limit_ignored: alerts.channel.limit_ignored.text,
    counts_high: alerts.channel.counts_high.text,
  },
  channel_without_model: '渠道 {channel} 没有模型，因此未检查。',
  channel_shortage: '渠道 {channel}：未检查，因为本机的打开文件数、端口或内存不足。',
  channel_address:
    '渠道 {channel}：其名称指向非公网地址，或以明文指向公网地址。若该地址在您自己的网络中，请添加 allow_private: true。',
  channel_certificate_expired:
    '渠道 {channel}：供应商的证书已过期。请供应商更新证书，并检查本机的时钟。',
  channel_tls: '渠道 {channel}：其证书不可信任。请检查地址、代理和时钟。',
  channel_lookup: '渠道 {channel}：无法查询 {url} 的名称。请检查地址和域名服务器。',
  channel_credential:
    '渠道 {channel}：供应商拒绝凭证（{status}）。请在目录中填入有效的凭证并应用。',
  channel_credit:
    '渠道 {channel}：在供应商处的余额或消费限额已用尽（{status}）。请在供应商处提高。',
  channel_silent: '渠道 {channel}：{url} 没有应答。请检查地址和网络。',
  channel_answers: '渠道 {channel} 在 {ms} 毫秒内应答。',
  channel_status: '渠道 {channel} 在 {ms} 毫秒内应答，状态码 {status}。',
  no_account: '没有正常的账户。请运行：turnpike account create NAME --balance 10',
  active_accounts: '{accounts} 个账户中有 {active} 个正常。',
  accounts_without_key: '没有有效密钥的账户：{names}。请运行：turnpike key create ACCOUNT',
  no_admin_token: '没有有效的管理令牌。请运行：turnpike admin-token create',
  demo_keys: '首次启动为演示生成的密钥仍然有效。请运行：{commands}',
}
