import{t as e}from"./useQuery-C9thhN6_.js";import{f as t,g as n,n as r,p as i,r as a,t as o}from"./card-CWF-AosY.js";import{n as s,o as c}from"./card-CrU1Z7NK.js";import{i as l,t as u}from"./copy-D8mkswsP.js";import{i as d}from"./field-OEDsRhYb.js";import{i as f,r as p,s as m,t as h}from"./account-CQm5znW9.js";import{n as g}from"./price-words-CpByCsud.js";var _=n(i(),1);function v(e,t,n){return n===`messages`?`${e}/${t}`:`${e}/${t}/v1`}var y=`cr_…`,b=e=>({title:`In a terminal`,text:e}),x=[{id:`curl-messages`,name:`curl, messages`,format:`messages`,parts:({origin:e,vendor:t,model:n})=>[b(`export GATEWAY_KEY=${y}
curl ${e}/${t}/v1/messages \\
  --header "authorization: Bearer $GATEWAY_KEY" \\
  --header 'content-type: application/json' \\
  --data '{"model":"${n}","max_tokens":100,"messages":[{"role":"user","content":"Good morning"}]}'`)]},{id:`curl-chat`,name:`curl, chat completions`,format:`chat`,parts:({origin:e,vendor:t,model:n})=>[b(`export GATEWAY_KEY=${y}
curl ${e}/${t}/v1/chat/completions \\
  --header "authorization: Bearer $GATEWAY_KEY" \\
  --header 'content-type: application/json' \\
  --data '{"model":"${n}","max_tokens":100,"messages":[{"role":"user","content":"Good morning"}]}'`)]},{id:`anthropic-python`,name:`Anthropic SDK, Python`,format:`messages`,parts:({origin:e,vendor:t,model:n})=>[{title:`Install`,text:`pip install anthropic`},{title:`ask.py`,text:`import os

import anthropic

client = anthropic.Anthropic(base_url="${e}/${t}", api_key=os.environ["GATEWAY_KEY"])
message = client.messages.create(
    model="${n}",
    max_tokens=200,
    messages=[{"role": "user", "content": "Good morning"}],
)
print(message.content[0].text)`},{title:`Run`,text:`GATEWAY_KEY=${y} python ask.py`}]},{id:`anthropic-typescript`,name:`Anthropic SDK, TypeScript`,format:`messages`,parts:({origin:e,vendor:t,model:n})=>[{title:`Install`,text:`npm install @anthropic-ai/sdk`},{title:`ask.mts`,text:`import Anthropic from '@anthropic-ai/sdk'

const client = new Anthropic({
  baseURL: '${e}/${t}',
  apiKey: process.env['GATEWAY_KEY'],
})
const message = await client.messages.create({
  model: '${n}',
  max_tokens: 200,
  messages: [{ role: 'user', content: 'Good morning' }],
})
for (const block of message.content) if (block.type === 'text') console.log(block.text)`},{title:`Run`,text:`GATEWAY_KEY=${y} node ask.mts`}]},{id:`openai-python`,name:`OpenAI SDK, Python`,format:`chat`,parts:({origin:e,vendor:t,model:n})=>[{title:`Install`,text:`pip install openai`},{title:`ask.py`,text:`import os

import openai

client = openai.OpenAI(base_url="${e}/${t}/v1", api_key=os.environ["GATEWAY_KEY"])
completion = client.chat.completions.create(
    model="${n}",
    max_tokens=200,
    messages=[{"role": "user", "content": "Good morning"}],
)
print(completion.choices[0].message.content)`},{title:`Run`,text:`GATEWAY_KEY=${y} python ask.py`}]},{id:`openai-typescript`,name:`OpenAI SDK, TypeScript`,format:`chat`,parts:({origin:e,vendor:t,model:n})=>[{title:`Install`,text:`npm install openai`},{title:`ask.mts`,text:`import OpenAI from 'openai'

const client = new OpenAI({
  baseURL: '${e}/${t}/v1',
  apiKey: process.env['GATEWAY_KEY'],
})
const completion = await client.chat.completions.create({
  model: '${n}',
  max_tokens: 200,
  messages: [{ role: 'user', content: 'Good morning' }],
})
console.log(completion.choices[0]?.message.content)`},{title:`Run`,text:`GATEWAY_KEY=${y} node ask.mts`}]}],S=[{id:`claude-code`,name:`Claude Code`,format:`messages`,parts:({origin:e,vendor:t,model:n,smallModel:r})=>[{title:`In a terminal`,text:`export ANTHROPIC_BASE_URL=${e}/${t}
export ANTHROPIC_AUTH_TOKEN=cr_…
export ANTHROPIC_MODEL=${n}
export ANTHROPIC_DEFAULT_HAIKU_MODEL=${r}
claude -p "Say good morning."`}]},{id:`codex`,name:`Codex CLI`,format:`chat`,parts:({origin:e,vendor:t,model:n})=>[{title:`~/.codex/config.toml`,text:`model = "${n}"
model_provider = "turnpike"
web_search = "disabled"

[model_providers.turnpike]
name = "Turnpike"
base_url = "${e}/${t}/v1"
env_key = "TURNPIKE_KEY"
wire_api = "responses"`},{title:`In a terminal`,text:`export TURNPIKE_KEY=cr_…
codex exec --skip-git-repo-check "Say good morning."`}]},{id:`opencode`,name:`opencode`,format:`chat`,parts:({origin:e,vendor:t,model:n,smallModel:r})=>[{title:`~/.config/opencode/opencode.json`,text:`{
  "$schema": "https://opencode.ai/config.json",
  "model": "turnpike/${n}",
  "small_model": "turnpike/${r}",
  "provider": {
    "turnpike": {
      "npm": "@ai-sdk/openai-compatible",
      "name": "Turnpike",
      "options": {
        "baseURL": "${e}/${t}/v1",
        "apiKey": "{env:TURNPIKE_KEY}"
      },
      "models": {
${[...new Set([n,r])].map(e=>`        "${e}": { "limit": { "context": 200000, "output": 8192 } }`).join(`,
`)}
      }
    }
  }
}`},{title:`In a terminal`,text:`export TURNPIKE_KEY=cr_…
opencode run "Say good morning."`}]},{id:`cline`,name:`Cline`,format:`chat`,parts:({origin:e,vendor:t,model:n})=>[{title:`In a terminal`,text:`export TURNPIKE_KEY=cr_…
cline auth --provider openai-compatible --baseurl ${e}/${t}/v1 --apikey "$TURNPIKE_KEY" --modelid ${n}
cline "Say good morning."`}]},{id:`continue`,name:`Continue`,format:`chat`,parts:({origin:e,vendor:t,model:n})=>[{title:`~/.continue/config.yaml`,text:`name: Turnpike
version: 1.0.0
schema: v1
models:
  - name: ${n}
    provider: openai
    model: ${n}
    apiBase: ${e}/${t}/v1
    apiKey: cr_…
    roles: [chat, edit, apply]
    defaultCompletionOptions:
      contextLength: 200000
      maxTokens: 8192`},{title:`In a terminal`,text:`cn --config ~/.continue/config.yaml --auto -p "Say good morning."`}]},{id:`qwen-code`,name:`Qwen Code`,format:`chat`,parts:({origin:e,vendor:t,model:n})=>[{title:`In a terminal`,text:`export OPENAI_BASE_URL=${e}/${t}/v1
export OPENAI_API_KEY=cr_…
export OPENAI_MODEL=${n}
qwen --auth-type openai "Say good morning."`}]},{id:`aider`,name:`aider`,format:`chat`,parts:({origin:e,vendor:t,model:n})=>[{title:`In a terminal`,text:`export OPENAI_API_BASE=${e}/${t}/v1
export OPENAI_API_KEY=cr_…
aider --model openai/${n} --message "Say good morning."`}]},{id:`open-webui`,name:`Open WebUI`,format:`chat`,parts:({origin:e,vendor:t})=>[{title:`In a terminal`,text:`export OPENAI_API_BASE_URL=${e}/${t}/v1
export OPENAI_API_KEY=cr_…
export ENABLE_OLLAMA_API=false
open-webui serve`}]}],C=[...x,...S],w=t();function T(){let{data:t,error:n,refetch:i}=e(m);return t===void 0?n===null?(0,w.jsx)(a,{rows:8}):(0,w.jsx)(r,{error:n,onRetry:()=>void i()}):t.prices.length===0?(0,w.jsx)(o,{title:`The gateway offers no model yet.`,children:`Ask your operator when there will be one.`}):(0,w.jsxs)(w.Fragment,{children:[(0,w.jsx)(D,{prices:t.prices}),(0,w.jsx)(O,{prices:t.prices})]})}var E={messages:`messages, as Anthropic’s clients send it`,chat:`chat completions and Responses, as OpenAI’s clients send it`};function D({prices:e}){let t=new Map(e.map(({vendor:e,format:t})=>[e,t]));return(0,w.jsx)(s,{title:`Base addresses`,hint:`A client needs a base address and a key (cr_…).`,children:(0,w.jsx)(`ul`,{className:`addresses`,children:[...t].map(([e,t])=>{let n=v(location.origin,e,t);return(0,w.jsxs)(`li`,{children:[(0,w.jsxs)(`div`,{children:[(0,w.jsx)(`code`,{className:`break`,children:n}),(0,w.jsx)(`div`,{className:`soft`,children:E[t]??t})]}),(0,w.jsx)(u,{text:n})]},e)})})})}function O({prices:e}){let t=f(),[n,r]=(0,_.useState)(``),i=C.filter(({format:t})=>A(t,e).length>0),a=i.find(({id:e})=>e===t.client)??i[0];if(a===void 0)return(0,w.jsx)(o,{title:`The gateway offers no model that answers text.`});let u=A(a.format,e),m=u.find(e=>e.model===n)??u[0];if(m===void 0)return null;let g={origin:location.origin,vendor:m.vendor,model:m.model,smallModel:j(m,u)};return(0,w.jsx)(s,{title:`Set up a client`,children:(0,w.jsxs)(`div`,{className:`stack`,children:[(0,w.jsxs)(`div`,{className:`filters`,children:[(0,w.jsx)(d,{label:`Client`,value:a.id,options:i.map(({id:e,name:t})=>[e,t]),onChange:e=>p({view:`setup`,client:e},{replaces:!0})}),(0,w.jsx)(d,{label:`Model`,value:m.model,options:u.map(e=>[e.model,e.model]),onChange:r})]}),(0,w.jsxs)(c,{children:[`Put one of your keys in place of `,(0,w.jsx)(`code`,{children:`cr_…`}),`. This page does not know them;`,` `,(0,w.jsx)(h,{to:{view:`keys`},children:`their names`}),` help you to find the right one.`]}),a.parts(g).map(({title:e,text:t})=>(0,w.jsxs)(`section`,{className:`setup-part`,"aria-label":e,children:[(0,w.jsx)(`h3`,{children:e}),(0,w.jsx)(l,{text:t,label:`${a.name}: ${e}`})]},e)),(0,w.jsx)(k,{client:a})]})})}function k({client:{id:e}}){return e===`codex`?(0,w.jsx)(`p`,{className:`soft`,children:`Codex uses only the Responses API, so the model’s vendor must offer it.`}):null}function A(e,t){return t.filter(t=>t.format===e&&g(t.price,`output`)!==void 0)}function j(e,t){let n=({price:e})=>Number(g(e,`output`)??0),[r=e]=t.filter(({vendor:t})=>t===e.vendor).toSorted((e,t)=>n(e)-n(t));return r.model}export{T as Setup};