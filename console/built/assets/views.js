import{__toESM as e}from"./rolldown-runtime.js";import{Badge as t,Button as n,Card as r,Count as i,Download as a,Duration as o,Empty as s,Facts as c,Missing as l,Notice as u,Problem as d,SelectField as f,Shown as p,Stack as m,TextField as ee,Time as h,Usd as g,dayPresets as te,describeFailure as ne,formatInteger as re,formatUsdExact as _,hasRange as v,keepPreviousData as ie,periodOf as ae,require_jsx_runtime as oe,require_react as se,scaleUsd as y,t as b,usdText as x,useMutation as ce,useNow as le,useQuery as S}from"./shared.js";import{BillTable as ue,Budgets as de,CopyButton as fe,CopyId as pe,Filters as me,List as C,RowFacts as he,SheetHead as w,Snippet as ge,StatementFigures as _e,VendorErrorNotice as ve,className as T,defineList as E,inPriceOrder as D,outcomeTones as O,shortVendorError as ye,statementList as be}from"./lists.js";import{Limits as xe,ViewLink as k,addressText as Se,ask as Ce,goTo as A,keysQuery as j,pricesQuery as M,requestQuery as we,statementQuery as Te,useAddress as N,useRequests as Ee}from"./holder.js";import{RangePicker as De,useDays as Oe}from"./common.js";var P=oe(),ke={active:`good`,expired:`warn`},F=({name:e,head:t})=>e===``?t:e;function Ae(e){return e===`active`||e===`expired`||e===`revoked`?b(`account.states.${e}`):e}var I=[{id:`name`,name:b(`account.key`),place:`name`,cell:F,value:F},{id:`head`,name:b(`account.head`),place:`note`,cell:({head:e})=>(0,P.jsx)(`code`,{children:e})},{id:`state`,name:b(`account.state`),place:`state`,cell:({state:e})=>(0,P.jsx)(t,{tone:ke[e]??`neutral`,children:Ae(e)}),value:({state:e})=>e},L(`day_usd`,b(`account.periods.day`)),{...L(`month_usd`,b(`account.periods.month`)),place:`amount`},L(`total_usd`,b(`account.periods.total`)),{id:`limits`,name:b(`account.limits`),cell:e=>(0,P.jsx)(de,{of:je(e),empty:(0,P.jsx)(l,{why:b(`account.noLimits`)})})},{id:`models`,name:b(`account.models`),room:`wide`,cell:({models:e})=>e?.join(`, `)??b(`account.all`),value:({models:e})=>e?.join(` `)??`all`},{id:`expires`,name:b(`account.expires`),room:`wide`,cell:({expires_at:e})=>(0,P.jsx)(h,{at:e}),value:({expires_at:e})=>e}];function L(e,t){let n=t=>x(t.used[e]);return{id:e,name:t,isNumber:!0,cell:e=>(0,P.jsx)(g,{value:n(e),places:2}),value:n}}function je({limits:e,used:t}){let n=t=>x(e.find(e=>e.period===t)?.limit_usd??0);return{daily_usd:n(`day`),monthly_usd:n(`month`),total_usd:n(`total`),used:{day_usd:x(t.day_usd),month_usd:x(t.month_usd),total_usd:x(t.total_usd)}}}var Me=E({name:`account-page-keys`,caption:b(`account.keysOf`),columns:I,rowKey:({id:e})=>e,rowName:F,Sheet:Ne,empty:(0,P.jsx)(s,{title:b(`account.noKey`),children:b(`account.askForKey`)})});function Ne({row:e}){return e===void 0?(0,P.jsx)(w,{title:b(`account.key`)}):(0,P.jsxs)(P.Fragment,{children:[(0,P.jsx)(w,{title:F(e),hint:(0,P.jsx)(k,{to:{view:`requests`,key:e.id},children:b(`account.requestsOfKey`)})}),e.limits.length+e.rpm+e.tpm>0&&(0,P.jsx)(xe,{of:e,children:e=>e!==``&&(0,P.jsx)(`p`,{className:`soft`,children:e})}),(0,P.jsx)(he,{row:e,columns:I.filter(({id:e})=>e!==`limits`)})]})}function R({state:e}){return e===`active`?0:1}function Pe(){let{data:e,error:t,refetch:n}=S(j),r=e?.toSorted((e,t)=>R(e)-R(t));return(0,P.jsx)(C,{of:Me,title:b(`account.tabs.keys`),hint:b(`account.keysHint`),list:{rows:r,error:t,retry:()=>void n()},file:`keys`})}var z=e(se(),1);function Fe(){return(0,P.jsx)(p,{query:S(M),children:e=>(0,P.jsx)(Ie,{...e})})}function Ie({multiplier:e,prices:t}){let[n,r]=(0,z.useState)(),i=(n??``).trim().toLowerCase(),a=t.filter(({model:e})=>e.toLowerCase().includes(i)),o=Le({multiplier:e,prices:t});return(0,P.jsxs)(P.Fragment,{children:[e!==`1`&&(0,P.jsx)(u,{tone:`accent`,children:b(`account.youPay`,{factor:e})}),(0,P.jsx)(me,{filters:[{kind:`text`,name:`model`,label:b(`account.model`)}],values:{model:n},onChange:({model:e})=>r(e)}),(0,P.jsx)(C,{of:{name:`account-page-prices`,caption:b(`account.tabs.prices`),columns:o,rowKey:({model:e})=>e,rowName:({model:e})=>e,empty:(0,P.jsx)(s,{title:b(`account.noPrice`)})},title:b(`account.tabs.prices`),hint:b(`account.pricesHint`),list:{rows:a},file:`prices`})]})}function Le({multiplier:e,prices:t}){let n=new Set(t.flatMap(({price:e})=>Object.keys(e))),r=D(n).filter(e=>t.some(({price:t})=>B(t,e)!==void 0)),i=t.every(({price:t})=>V(t,e).length===0);return[{id:`model`,name:b(`account.model`),place:`name`,cell:({model:e})=>(0,P.jsx)(`strong`,{children:e}),value:({model:e})=>e},{id:`vendor`,name:b(`account.vendor`),place:`note`,cell:({vendor:e})=>e,value:({vendor:e})=>e},...r.map(t=>ze(t,e)),...i?[]:[Re(e)]]}function Re(e){return{id:`further`,name:b(`account.further`),cell:({price:t})=>{let n=V(t,e);return n.length===0?(0,P.jsx)(l,{why:b(`account.noFurther`)}):n.map(e=>(0,P.jsx)(`div`,{className:`soft small`,children:e},e))},value:({price:t})=>V(t,e).join(`; `)}}function ze(e,t){return{id:e,name:e===`request`?b(`account.eachRequest`):T(e),isNumber:!0,...e===`input`&&{place:`amount`},cell:({price:n})=>{let r=B(n,e);if(r===void 0)return(0,P.jsx)(l,{why:b(`account.notOffered`)});let i=y(r,t),a=b(`account.listPrice`,{price:_(r),factor:t});return(0,P.jsx)(`data`,{value:i,"data-tip":t===`1`?void 0:a,children:_(i)})},value:({price:n})=>{let r=B(n,e);return r===void 0?null:y(r,t)}}}function B(e,t){let n=e[t];return typeof n==`number`?x(n):typeof n==`string`?n:void 0}function V(e,t){let n=U(e.long_context),r=B(n,`above`),i=[[`tiers`,`tier`],[`speeds`,`speed`],[`geos`,`region`]];return[...r===void 0?[]:[b(`account.above`,{count:re(Number(r)),prices:H(n,t)})],...i.flatMap(([n,r])=>Object.entries(U(e[n])).map(([e,n])=>{let i=U(n),a=B(i,`multiplier`),o=a===void 0?H(i,t):`× ${a}`;return b(`account.groups.${r}`,{name:e,prices:o})}))]}function H(e,t){return D(Object.keys(e)).flatMap(n=>{let r=n===`above`?void 0:B(e,n);return r===void 0?[]:[`${T(n)} ${_(y(r,t))}`]}).join(`, `)}function U(e){return typeof e==`object`&&e?Object.fromEntries(Object.entries(e)):{}}function W(e){return e in O}var G=(0,P.jsx)(l,{why:b(`account.noModel`)}),K=[{id:`time`,name:b(`account.time`),place:`note`,cell:({started_at:e})=>(0,P.jsx)(h,{at:e}),value:({started_at:e})=>e},{id:`model`,name:b(`account.model`),place:`name`,cell:({model:e})=>e??G,value:({model:e})=>e},{id:`key`,name:b(`account.key`),cell:({key_id:e})=>(0,P.jsx)(Be,{id:e}),value:({key_id:e})=>e},{id:`outcome`,name:b(`account.outcome`),place:`state`,cell:e=>(0,P.jsx)(He,{row:e}),value:({outcome:e})=>e},q(`input`,({input_tokens:e})=>e),q(`output`,({output_tokens:e})=>e),q(`cache`,({cache_tokens:e})=>e),{id:`cost`,name:b(`account.cost`),isNumber:!0,sort:`cost`,place:`amount`,cell:({cost:e})=>(0,P.jsx)(g,{value:e,places:6}),value:({cost:e})=>e},{id:`label`,name:b(`account.label`),isExtra:!0,cell:({label:e})=>e,value:({label:e})=>e}];function q(e,t){return{id:e,name:b(`account.tokens.${e}`),isNumber:!0,cell:e=>(0,P.jsx)(i,{value:t(e)}),value:t}}function J(){let{data:e=[]}=S(j);return new Map(e.map(({id:e,name:t,head:n})=>[e,t===``?n:t]))}function Be({id:e}){return J().get(e)??e}function Ve({of:e}){return W(e)?(0,P.jsx)(t,{tone:O[e],children:b(`account.outcomes.${e}`)}):(0,P.jsx)(t,{children:e})}function He({row:{outcome:e,status:t,requests:n,vendor_error:r}}){return(0,P.jsxs)(`span`,{className:`row`,children:[(0,P.jsx)(Ve,{of:e}),t>=400&&(0,P.jsx)(`span`,{className:`soft`,children:t}),r!==null&&(0,P.jsx)(`span`,{className:`soft break`,children:ye(r)}),n>1&&(0,P.jsx)(`span`,{className:`soft`,children:b(`account.times`,{count:n})})]})}var Ue=E({name:`account-page-requests`,caption:b(`account.requestsOf`),columns:K,rowKey:({id:e})=>e,Sheet:Ze,opener:({id:e},t)=>(0,P.jsx)(We,{id:e,children:t}),empty:(0,P.jsx)(s,{title:b(`account.noRequests`),children:(0,P.jsx)(k,{to:{view:`setup`},children:b(`account.setUpClient`)})}),emptyFiltered:(0,P.jsx)(s,{title:b(`account.noneFits`),children:(0,P.jsx)(k,{to:{view:`requests`},children:b(`account.showAll`)})})});function We({id:e,children:t}){return(0,P.jsx)(`a`,{href:Se({...N(),request:e}),"data-open":!0,children:t})}var Ge=6e4;function Ke(){let e=N(),{key:t,model:n,outcome:r,sort:i,request:a}=e,o=le(Ge),s=v(e)?ae(e,{unit:`day`,nowMs:o,usual:`30d`}):{},c=Ee({key:t,model:n,outcome:r,sort:i,...s}),l=J(),u=K.map(e=>e.id===`key`?{...e,value:({key_id:e})=>l.get(e)??e}:e);return(0,P.jsxs)(P.Fragment,{children:[(0,P.jsx)(qe,{}),(0,P.jsx)(C,{of:{...Ue,columns:u},title:b(`account.tabs.requests`),hint:b(i===`cost`?`account.dearestFirst`:`account.newestFirst`),isFiltered:v(e)||[t,n,r].some(e=>e!==void 0),list:c,sort:i===`cost`?{by:`cost`,order:`desc`}:void 0,onSort:({order:t})=>A({...e,sort:t===`desc`?`cost`:void 0}),open:a,onOpen:t=>A({...e,request:t}),file:`requests`})]})}function qe(){let e=N(),t=J(),{data:n}=S(M),r=t=>A({...e,...t,request:void 0},{replaces:!0}),{key:i,model:a}=e,o=(n?.prices??[]).map(e=>[e.model,e.model]);return(0,P.jsxs)(me,{filters:[Y(`key`,b(`account.allKeys`),Ye([...t],i)),Y(`model`,b(`account.allModels`),Ye(o,a)),Y(`outcome`,b(`account.allOutcomes`),Je)],values:e,onChange:r,children:[(0,P.jsx)(De,{value:e,unit:`day`,presets:te,quick:[`today`,`yesterday`],usual:{name:b(`account.anyTime`)},onChange:r}),(0,P.jsx)(Xe,{})]})}var Je=Object.keys(O).filter(W).map(e=>[e,b(`account.outcomes.${e}`)]);function Y(e,t,n){return{kind:`choice`,name:e,label:b(`account.${e}`),any:t,options:n}}function Ye(e,t){return t===void 0||e.some(([e])=>e===t)?e:[...e,[t,t]]}function Xe(){let e=N(),[t,r]=(0,z.useState)(``);return(0,P.jsxs)(`form`,{className:`row row-end`,onSubmit:n=>{n.preventDefault(),t.trim()!==``&&A({...e,request:t.trim()})},children:[(0,P.jsx)(ee,{label:b(`account.requestId`),placeholder:b(`account.idExample`),value:t,onChange:r}),(0,P.jsx)(n,{type:`submit`,children:b(`account.open`)})]})}function Ze({id:e}){return(0,P.jsxs)(P.Fragment,{children:[(0,P.jsx)(w,{title:b(`account.request`)}),(0,P.jsx)(p,{query:S(we(e)),rows:8,children:e=>(0,P.jsx)(Qe,{request:e})})]})}function Qe({request:e}){let{vendor_error:t,estimated:n,requests:i}=e;return(0,P.jsxs)(m,{children:[(0,P.jsxs)(`div`,{className:`row`,children:[(0,P.jsx)(Ve,{of:e.outcome}),(0,P.jsx)(`span`,{children:$e(e)})]}),t!==null&&(0,P.jsx)(ve,{error:t}),(0,P.jsx)(r,{children:(0,P.jsx)(c,{items:et(e)})}),(0,P.jsx)(r,{title:b(`account.cost`),isFlush:e.bill!==null,children:(0,P.jsx)(tt,{request:e})}),n&&(0,P.jsx)(u,{children:b(`account.estimated`)}),i>1&&(0,P.jsx)(u,{children:b(`account.standsFor`,{count:i})}),(0,P.jsx)(r,{title:b(`account.forSupport`),children:(0,P.jsx)(c,{items:nt(e)})})]})}function $e({outcome:e,explanation:t}){if(!W(e))return t;let n=/\bis charged\b/.test(t);return[b(`account.explained.${e}`),...n?[b(`account.notFree`)]:[]].join(` `)}function et(e){let{model:t,key:n,key_id:r,operation:i,status:a,code:s,stream:c}=e,u=Date.parse(e.ended_at)-Date.parse(e.started_at),d=c===null?`none`:c?`streamed`:`whole`;return[[b(`account.model`),t??G],[b(`account.key`),n??r],[b(`account.began`),(0,P.jsx)(h,{at:e.started_at},`began`)],[b(`account.took`),(0,P.jsx)(o,{ms:u},`took`)],[b(`account.firstEvent`),(0,P.jsx)(o,{ms:e.first_event_ms},`first`)],[b(`account.status`),s===null?a:[`${a} `,(0,P.jsx)(`code`,{children:s},`code`)]],[b(`account.operation`),i??(0,P.jsx)(l,{why:b(`account.noOperation`)})],[b(`account.answer`),b(`account.answers.${d}`)]]}function tt({request:{bill:e,cost:t,refund:n,paid:r}}){return e===null?(0,P.jsx)(`p`,{className:`soft`,children:/[1-9]/.test(t)?b(`account.noDetails`,{cost:_(t)}):b(`account.costNothing`)}):(0,P.jsx)(ue,{bill:e,cost:t,refund:n===null?void 0:{...n,paid:r}})}function nt({id:e,vendor_request_id:t}){let n=e=>(0,P.jsx)(pe,{text:e,label:b(`ui.copy.copy`)},e);return[[b(`account.requestId`),n(e)],...t===null?[]:[[b(`account.vendorId`),n(t)]]]}var rt=`# aider

Run by hand with aider 0.86.2 on 2026-11-22: it edited a file, streamed. The tests do not run it, because its
installation has more than 600 MB.

## Set and run

The name of the model is \`openai/\` and a model of your gateway's catalogue.

\`\`\`sh
export OPENAI_API_BASE=http://127.0.0.1:8080/beta/v1
export OPENAI_API_KEY=cr_…
aider --model openai/chat-1 --message "Say good morning."
\`\`\`

## Know

- aider does not know the price and the window of such a model and says so; \`--no-show-model-warnings\` stops that.
- It does not send \`max_tokens\`. The gateway then holds the price of the longest answer that the model may give until
  the answer is complete.
- \`--analytics-disable\` and \`--no-check-update\` stop its traffic to other hosts, except for a list of prices that it
  reads from \`raw.githubusercontent.com\`. It works without that list.
`,it=`# Claude Code

## Set and run

The models are those of your gateway's catalogue. Claude Code uses the second one for small tasks.

\`\`\`sh
export ANTHROPIC_BASE_URL=http://127.0.0.1:8080/alpha
export ANTHROPIC_AUTH_TOKEN=cr_…
export ANTHROPIC_MODEL=large-1
export ANTHROPIC_DEFAULT_HAIKU_MODEL=small-1
claude -p "Say good morning."
\`\`\`

## Know

- \`ANTHROPIC_API_KEY\` works in place of \`ANTHROPIC_AUTH_TOKEN\`. Set one of them.
- It prints the gateway's message when the balance is exhausted or the daily limit is reached, and stops after
  one attempt.
- \`ANTHROPIC_CUSTOM_HEADERS='x-turnpike-label: my-team'\` gives its requests a [label](../requests.md#labels), by which
  their cost is added up.
- \`CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC=1\` stops its traffic to other hosts.

## What it asks of a gateway

Its makers list what a gateway has to do. \`test/e2e/claude-code-protocol.test.ts\` sends each row:

<!-- prettier-ignore -->
| it asks | Turnpike |
| --- | --- |
| \`POST /v1/messages?beta=true\` | Forwarded with its query. |
| \`POST /v1/messages/count_tokens\` | Forwarded, free. |
| \`HEAD /api/hello\` at its start | Answered at once. |
| unknown headers, betas and body fields unchanged | Forwarded byte for byte, unless a channel has \`drop_betas\`. |
| the vendor's errors unchanged | Status, headers and body of errors about the request pass. |
| \`GET /v1/models?limit=1000\` within 3 s, without a redirect | From the catalogue: the models that the key may use. |
| 400 \`invalid_request_error\` for a model that is not allowed | So, with the address of the list in its text. |
| pings and unknown events of a stream | Pass as they come. |
| a spend limit as 429 \`billing_error\` with unified headers, if any | Not done: a daily limit is a 429 \`rate_limit_error\` with \`x-should-retry: false\`, and its text says when it resets. |

Tested with \`@anthropic-ai/claude-code\` 2.1.329: it reads a file, edits it and runs a command, streamed.
`,at=`# Cline

This page is about Cline's program for the command line.

## Set and run

\`\`\`sh
export TURNPIKE_KEY=cr_…
cline auth --provider openai-compatible --baseurl http://127.0.0.1:8080/beta/v1 --apikey "$TURNPIKE_KEY" --modelid chat-1
cline "Say good morning."
\`\`\`

In VS Code (not tested): in Cline's settings choose the API provider "OpenAI Compatible", and enter the same
address, key and model.

## Know

- Cline does not send \`max_tokens\`. The gateway then holds the price of the longest answer that the model may give
  until the answer is complete.
- \`"telemetryOptOut": true\` in \`~/.cline/data/settings/global-settings.json\` stops its telemetry. It still asks
  \`data.cline.bot\` for its feature switches, and works without an answer.

Tested with \`@cline/cli-linux-x64\` 3.0.65: it reads a file, edits it and runs a command, streamed.
`,ot=`# Codex CLI

## Set

Put this into \`~/.codex/config.toml\`. The model is one of your gateway's catalogue. Codex uses only the Responses
API, so the model's vendor must offer it.

\`\`\`toml
model = "chat-1"
model_provider = "turnpike"
web_search = "disabled"

[model_providers.turnpike]
name = "Turnpike"
base_url = "http://127.0.0.1:8080/beta/v1"
env_key = "TURNPIKE_KEY"
wire_api = "responses"
\`\`\`

## Run

\`\`\`sh
export TURNPIKE_KEY=cr_…
codex exec --skip-git-repo-check "Say good morning."
\`\`\`

## Know

- \`web_search = "disabled"\`: otherwise Codex offers the model a web search that the vendor runs. Each search costs
  what the [catalogue](../catalogue.md) says, 0.01 USD by default, and \`allow: [no_server_tools]\` refuses it.
- Codex sends \`store: false\` and its whole history each time, with reasoning that the vendor has encrypted. The
  gateway keeps such a session on the channel that can read it.
- It sends no \`max_output_tokens\`. The gateway then holds the price of the longest answer that the model may give
  until the answer is complete.
- It tries five times again after every error but 400, also after an exhausted balance, and then prints the gateway's
  message. \`stream_max_retries\` of the provider changes that number. At a limit in USD it stops at once and prints
  \`Quota exceeded\`, without the gateway's message.
- \`http_headers = { "x-turnpike-label" = "my-team" }\` of the provider gives its requests a
  [label](../requests.md#labels).
- It warns that it does not know a model of another name. Set \`model_context_window\` to the model's window.
- With \`openai_base_url\` in place of a provider (the key in \`CODEX_API_KEY\`) Codex tries a WebSocket first. The gateway
  answers 426, and Codex continues at once with plain requests.
- A long session is compacted. With a provider as above Codex asks the model for a summary. With \`openai_base_url\`
  it asks the vendor to compact (\`compaction_trigger\`), which not every vendor can do.
- \`plugins = false\` and \`apps = false\` under \`[features]\`, and \`enabled = false\` under \`[analytics]\`, stop its traffic to
  other hosts.

Tested with \`@openai/codex\` 0.169.0: it reads a file, edits it and runs a command, streamed.
`,st=`# Continue

This page is about \`cn\`, Continue's program for the command line.

## Set

Put this into \`~/.continue/config.yaml\`. Continue's extensions for editors read the same file (not tested).

\`\`\`yaml
name: Turnpike
version: 1.0.0
schema: v1
models:
  - name: chat-1
    provider: openai
    model: chat-1
    apiBase: http://127.0.0.1:8080/beta/v1
    apiKey: cr_…
    roles: [chat, edit, apply]
    defaultCompletionOptions:
      contextLength: 200000
      maxTokens: 8192
\`\`\`

## Run

\`--auto\` lets it use its tools without asking.

\`\`\`sh
cn --config ~/.continue/config.yaml --auto -p "Say good morning."
\`\`\`

## Know

- \`maxTokens\` decides what the gateway holds for each request. Keep it at what you need.
- At its start it asks \`api.continue.dev\` for its newest version. It works without an answer.

Tested with \`@continuedev/cli\` 1.5.47: it reads a file, edits it and runs a command, streamed.
`,ct='# Open WebUI\n\nOpen WebUI is a server with a page for the browser.\n\n## Set\n\n```sh\nexport OPENAI_API_BASE_URL=http://127.0.0.1:8080/beta/v1\nexport OPENAI_API_KEY=cr_…\nexport ENABLE_OLLAMA_API=false\nopen-webui serve\n```\n\nIn its admin settings, under Connections, the same address and key do the same.\n\n## Know\n\n- Its server sends the requests: `GET /models` for the list, and `POST /chat/completions` for each answer. A connection\n  of the type "responses" uses `POST /responses` in place of the second.\n- It makes more requests for titles, tags and follow-up questions. `TASK_MODEL_EXTERNAL` names a cheaper model for\n  these; `ENABLE_TITLE_GENERATION=false`, `ENABLE_TAGS_GENERATION=false` and `ENABLE_FOLLOW_UP_GENERATION=false`\n  stop them.\n- `RAG_EMBEDDING_ENGINE=openai` and `RAG_EMBEDDING_MODEL` let it use `POST /embeddings` of the gateway.\n- Direct connections, which a user adds, come from the browser: `cors_origins` must name the address of Open WebUI.\n\nTested with `open-webui` 0.12.4, by hand: its server lists the models and answers, with either type of connection.\n',lt=`# opencode

## Set

Put this into \`~/.config/opencode/opencode.json\`. The models are those of your gateway's catalogue.

\`\`\`json
{
  "$schema": "https://opencode.ai/config.json",
  "model": "turnpike/chat-1",
  "small_model": "turnpike/chat-mini-1",
  "provider": {
    "turnpike": {
      "npm": "@ai-sdk/openai-compatible",
      "name": "Turnpike",
      "options": {
        "baseURL": "http://127.0.0.1:8080/beta/v1",
        "apiKey": "{env:TURNPIKE_KEY}"
      },
      "models": {
        "chat-1": { "limit": { "context": 200000, "output": 8192 } },
        "chat-mini-1": { "limit": { "context": 200000, "output": 8192 } }
      }
    }
  }
}
\`\`\`

## Run

\`\`\`sh
export TURNPIKE_KEY=cr_…
opencode run "Say good morning."
\`\`\`

## Know

- \`"npm": "@ai-sdk/openai"\` lets it use the Responses API in place of chat completions.
- \`"headers": { "x-turnpike-label": "my-team" }\` in \`options\` gives its requests a [label](../requests.md#labels).
- \`limit.output\` is the \`max_tokens\` of each request, and so what the gateway holds. Keep it at what you need.
- It asks again after every 429: at a limit in USD eight times, for one or two minutes, before it prints the message of
  the gateway.
- Each new session costs one more request: \`small_model\` gives it a title.
- At its start opencode asks \`registry.npmjs.org\` for one of its packages. It works without an answer.

Tested with \`opencode-linux-x64\` 1.18.33: with either API it reads a file, edits it and runs a command, streamed.
`,ut=`# Qwen Code

## Set and run

\`\`\`sh
export OPENAI_BASE_URL=http://127.0.0.1:8080/beta/v1
export OPENAI_API_KEY=cr_…
export OPENAI_MODEL=chat-1
qwen --auth-type openai "Say good morning."
\`\`\`

## Know

- It waits 120 s for the head of an answer, then leaves and asks again: a model that thinks longer never answers.
  \`stream_keepalive\` of the gateway, such as \`60s\`, helps, as does
  \`"model": { "generationConfig": { "timeout": 600000 } }\` in \`~/.qwen/settings.json\`.
- After an answer Qwen Code makes one more request, for its memory.
  \`"memory": { "enableManagedAutoMemory": false }\` in \`~/.qwen/settings.json\` stops that.
- At a limit in USD it prints the message of the gateway at once; at requests per minute it waits and asks again.
- \`"privacy": { "usageStatisticsEnabled": false }\` in the same file stops its statistics.

Tested with \`@qwen-code/qwen-code\` 0.24.4: it reads a file, edits it and runs a command, streamed.
`;function dt(e,t,n){return n===`messages`?`${e}/${t}`:`${e}/${t}/v1`}var ft=`cr_…`,pt=e=>({title:b(`account.parts.terminal`),text:e}),mt=e=>t=>[pt(`export GATEWAY_KEY=${ft}
curl ${t.origin}/${t.vendor}/v1/${e} \\
  --header "authorization: Bearer $GATEWAY_KEY" \\
  --header 'content-type: application/json' \\
  --data '{"model":"${t.model}","max_tokens":100,"messages":[{"role":"user","content":"Good morning"}]}'`)],X=({install:e,runs:t,text:n})=>r=>[{title:b(`account.parts.install`),text:e},{title:t.replace(/.* /,``),text:n(r)},{title:b(`account.parts.run`),text:`GATEWAY_KEY=${ft} ${t}`}];function Z(e,t){let[,n=e]=/^# (.+)$/m.exec(t)??[],[,r=``]=/^Put this into `(.+?)`/m.exec(t)??[],i=[...t.matchAll(/^```(\w+)\n(.*?)\n```$/gms)];return{id:e,name:n,format:t.includes(`/alpha`)?`messages`:`chat`,parts:e=>i.map(([,t,n=``])=>({title:t===`sh`?b(`account.parts.terminal`):r,text:ht(e,n)}))}}function ht({origin:e,vendor:t,model:n,smallModel:r},i){return i.replaceAll(/http:\/\/127\.0\.0\.1:8080\/\w+/g,()=>`${e}/${t}`).replaceAll(/\b(large|chat)-1\b/g,()=>n).replaceAll(/\b(small|chat-mini)-1\b/g,()=>r).replaceAll(/^(.+),\n\1$/gm,`$1`)}var gt=[{id:`curl-messages`,name:`curl, messages`,format:`messages`,parts:mt(`messages`)},{id:`curl-chat`,name:`curl, chat completions`,format:`chat`,parts:mt(`chat/completions`)},{id:`anthropic-python`,name:`Anthropic SDK, Python`,format:`messages`,parts:X({install:`pip install anthropic`,runs:`python ask.py`,text:({origin:e,vendor:t,model:n})=>`import os

import anthropic

client = anthropic.Anthropic(base_url="${e}/${t}", api_key=os.environ["GATEWAY_KEY"])
message = client.messages.create(
    model="${n}",
    max_tokens=200,
    messages=[{"role": "user", "content": "Good morning"}],
)
print(message.content[0].text)`})},{id:`anthropic-typescript`,name:`Anthropic SDK, TypeScript`,format:`messages`,parts:X({install:`npm install @anthropic-ai/sdk`,runs:`node ask.mts`,text:({origin:e,vendor:t,model:n})=>`import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({
  baseURL: '${e}/${t}',
  apiKey: process.env['GATEWAY_KEY'],
})
const message = await client.messages.create({
  model: '${n}',
  max_tokens: 200,
  messages: [{ role: 'user', content: 'Good morning' }],
})
for (const block of message.content) if (block.type === 'text') console.log(block.text)`})},{id:`openai-python`,name:`OpenAI SDK, Python`,format:`chat`,parts:X({install:`pip install openai`,runs:`python ask.py`,text:({origin:e,vendor:t,model:n})=>`import os

import openai

client = openai.OpenAI(base_url="${e}/${t}/v1", api_key=os.environ["GATEWAY_KEY"])
completion = client.chat.completions.create(
    model="${n}",
    max_tokens=200,
    messages=[{"role": "user", "content": "Good morning"}],
)
print(completion.choices[0].message.content)`})},{id:`openai-typescript`,name:`OpenAI SDK, TypeScript`,format:`chat`,parts:X({install:`npm install openai`,runs:`node ask.mts`,text:({origin:e,vendor:t,model:n})=>`import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: '${e}/${t}/v1',
  apiKey: process.env['GATEWAY_KEY'],
})
const completion = await client.chat.completions.create({
  model: '${n}',
  max_tokens: 200,
  messages: [{ role: 'user', content: 'Good morning' }],
})
console.log(completion.choices[0]?.message.content)`})},Z(`claude-code`,it),Z(`codex`,ot),Z(`opencode`,lt),Z(`cline`,at),Z(`continue`,st),Z(`qwen-code`,ut),Z(`aider`,rt),Z(`open-webui`,ct)];function _t(){return(0,P.jsx)(p,{query:S(M),children:({prices:e})=>e.length===0?(0,P.jsx)(s,{title:b(`account.noModels`),children:b(`account.askWhen`)}):(0,P.jsxs)(P.Fragment,{children:[(0,P.jsx)(yt,{prices:e}),(0,P.jsx)(bt,{prices:e})]})})}function vt(e){return e===`messages`||e===`chat`?b(`account.formats.${e}`):e}function yt({prices:e}){let t=new Map(e.map(({vendor:e,format:t})=>[e,t]));return(0,P.jsx)(r,{title:b(`account.baseAddresses`),hint:b(`account.baseHint`),children:(0,P.jsx)(m,{as:`ul`,children:[...t].map(([e,t])=>{let n=dt(location.origin,e,t);return(0,P.jsxs)(`li`,{className:`row row-between`,children:[(0,P.jsxs)(`div`,{children:[(0,P.jsx)(`code`,{className:`break`,children:n}),(0,P.jsx)(`div`,{className:`soft small`,children:vt(t)})]}),(0,P.jsx)(fe,{text:n})]},e)})})})}function bt({prices:e}){let t=N(),[n,i]=(0,z.useState)(``),a=gt.filter(({format:t})=>Q(t,e).length>0),o=a.find(({id:e})=>e===t.client)??a[0];if(o===void 0)return(0,P.jsx)(s,{title:b(`account.noTextModel`)});let c=Q(o.format,e),l=c.find(e=>e.model===n)??c[0];if(l===void 0)return null;let d={origin:location.origin,vendor:l.vendor,model:l.model,smallModel:xt(l,c)};return(0,P.jsx)(r,{title:b(`account.setUpClient`),children:(0,P.jsxs)(m,{children:[(0,P.jsxs)(`div`,{className:`row row-end filters`,children:[(0,P.jsx)(f,{label:b(`account.client`),value:o.id,options:a.map(({id:e,name:t})=>[e,t]),onChange:e=>A({view:`setup`,client:e},{replaces:!0})}),(0,P.jsx)(f,{label:b(`account.model`),value:l.model,options:c.map(e=>[e.model,e.model]),onChange:i})]}),(0,P.jsx)(u,{children:b.rich(`account.putKey`,{code:e=>(0,P.jsx)(`code`,{children:e}),link:e=>(0,P.jsx)(k,{to:{view:`keys`},children:e})})}),o.parts(d).map(({title:e,text:t})=>(0,P.jsxs)(m,{as:`section`,isTight:!0,"aria-label":e,children:[(0,P.jsx)(`h3`,{children:e}),(0,P.jsx)(ge,{text:t,label:`${o.name}: ${e}`})]},e)),o.id===`codex`&&(0,P.jsx)(`p`,{className:`soft`,children:b(`account.codexHint`)})]})})}function Q(e,t){return t.filter(t=>t.format===e&&B(t.price,`output`)!==void 0)}function xt(e,t){let n=({price:e})=>Number(B(e,`output`)??0),[r=e]=t.filter(({vendor:t})=>t===e.vendor).toSorted((e,t)=>n(e)-n(t));return r.model}var St=be({name:`account-page-statement`,caption:b(`account.tabs.statement`),requestLink:(e,t=e)=>(0,P.jsx)(k,{to:{view:`requests`,request:e},children:t})});function Ct({account:e}){let t=N(),{period:n,picker:r}=Oe({value:t,usual:`thisMonth`,quick:[`thisMonth`,`lastMonth`],onChange:e=>A({...t,...e},{replaces:!0})}),i=S({...Te(n),placeholderData:ie});return(0,P.jsxs)(P.Fragment,{children:[r,(0,P.jsx)(p,{query:i,children:({figures:t,entries:r})=>(0,P.jsxs)(P.Fragment,{children:[(0,P.jsx)(_e,{of:{...t,from:`${n.from}T00:00:00Z`,opening:t.opening_balance,closing:t.closing_balance}}),(0,P.jsx)(C,{of:St,title:b(`account.tabs.statement`),hint:b(`account.lastLines`),list:{rows:r},actions:(0,P.jsx)(wt,{account:e,period:n})})]})})]})}function wt({account:e,period:t}){let[r,i]=(0,z.useState)(0),o=(0,z.useRef)(void 0);(0,z.useEffect)(()=>()=>o.current?.abort(),[]);let s=ce({async mutationFn(n){let r=new AbortController;o.current=r,i(0);let a=`statement-${Tt(e.name)}-${t.from}-${t.to}.${n}`;try{return await Dt(await Ce(`/statement`,{...t,format:n},r),a,i),b(`account.savedAs`,{name:a})}catch(e){if(r.signal.aborted)return``;throw e}}}),c=r===0?b(`account.reading`):b(`account.bytesRead`,{size:(r/1e6).toFixed(1)});return(0,P.jsxs)(P.Fragment,{children:[(0,P.jsx)(`span`,{role:`status`,className:`soft`,children:s.isPending?c:s.data}),s.isPending&&(0,P.jsx)(n,{onClick:()=>o.current?.abort(),children:b(`account.stop`)}),s.error!==null&&(0,P.jsxs)(u,{tone:`bad`,children:[ne(s.error).title,` `,b(`account.nothingSaved`)]}),!s.isPending&&[`csv`,`json`].map(e=>(0,P.jsxs)(n,{onClick:()=>s.mutate(e),children:[(0,P.jsx)(a,{"aria-hidden":!0}),` `,e.toUpperCase()]},e))]})}function Tt(e){return e.replace(/[^A-Za-z0-9_-]+/g,`-`).slice(0,60)}var Et=4194304;async function Dt(e,t,n){let r=e.headers.get(`content-type`)??`application/octet-stream`,i=new Blob(await Ot(e,n),{type:r}),a=URL.createObjectURL(i),o=document.createElement(`a`);o.href=a,o.download=t,o.click(),URL.revokeObjectURL(a)}async function Ot(e,t){let n=e.body?.getReader(),r=[],i=[],a=0,o=0;for(let e=await $(n);e!==void 0;e=await $(n))i.push(e),a+=e.length,o+=e.length,a<Et||(r.push(new Blob(i)),i=[],a=0,t(o));return[...r,new Blob(i)]}async function $(e){try{return(await e?.read())?.value}catch(e){throw e instanceof DOMException&&e.name===`AbortError`?e:new d(0,{detail:b(`account.brokenOff`)})}}export{Pe as Keys,Fe as Prices,Ke as Requests,_t as Setup,Ct as Statement};