/** The bundle of `guest/*.js`, written by `npm run build:guest`. */
export const guestSource: string = `"use strict";(()=>{var Xt=Object.defineProperty;var i=(t,e)=>Xt(t,"name",{value:e,configurable:!0});var Ze=(t,e)=>{for(var r in e)Xt(t,r,{get:e[r],enumerable:!0})};var N={...globalThis},b=JSON.parse(N.__facts);function y(t,e,r){return Object.assign(new t(r),{code:e})}i(y,"codedError");
function B({message:t,code:e,syscall:r,path:n}){let o=new Error(t);return e&&Object.assign(o,{code:e,errno:-1}),r&&Object.
assign(o,{syscall:r}),n&&Object.assign(o,{path:n}),o}i(B,"systemError");function m(t,e){let r=N.__host(t,JSON.stringify(
e));if(typeof r!="string")return r;let{value:n,error:o}=JSON.parse(r);if(o)throw B(o);return n}i(m,"callHost");function kt(t,e,r){
let{error:n}=JSON.parse(N.__write(t,e,r));if(n)throw B(n)}i(kt,"writeFile");function O(t,e){N.__out(t,ee(e))}i(O,"writeO\\
utput");function Y(t,e){return N.__encode(ee(t),e)}i(Y,"encode");function ot(t,e){return Qe(N.__decode(t,e))}i(ot,"decod\\
e");var{__sha256:Zt,__exit:Qt,__tests:vt,__compile:te}=N;function ee(t){if(!t.includes("\\0"))return t;let e=new Uint16Array(
t.length);for(let r=0;r<t.length;r++)e[r]=t.charCodeAt(r);return e.buffer}i(ee,"toHostText");function Qe(t){if(typeof t==
"string")return t;let e=new Uint16Array(t),r="";for(let n=0;n<e.length;n+=8192)r+=String.fromCharCode(...e.subarray(n,n+
8192));return r}i(Qe,"fromHostText");var ve=new Map([["utf-8","utf8"],["binary","latin1"],["ucs2","utf16le"],["ucs-2","utf16le"],["utf-16le","utf16le"]]),tr=new Set(
["utf8","latin1","ascii","hex","base64","base64url","utf16le"]);function it(t){let e=String(t??"utf8").toLowerCase(),r=ve.
get(e)??e;if(!tr.has(r))throw y(TypeError,"ERR_UNKNOWN_ENCODING",\`Unknown encoding: \${t}\`);return r}i(it,"encodingOf");function E(t){
return t.buffer.slice(t.byteOffset,t.byteOffset+t.byteLength)}i(E,"bytesOf");var a=class t extends Uint8Array{static{i(this,
"Buffer")}static from(e,r,n){if(typeof e=="string")return new t(Y(e,it(r)));if(e instanceof ArrayBuffer){let c=Number(r||
0);return new t(e,c,n??e.byteLength-c)}let o=e;o&&o.type==="Buffer"&&Array.isArray(o.data)&&(o=o.data);let s=new t(o.length);
for(let c=0;c<o.length;c++)s[c]=o[c];return s}static alloc(e,r,n){let o=new t(e);return r!==void 0&&r!==0&&o.fill(r,0,e,
n),o}static allocUnsafe(e){return new t(e)}static isBuffer(e){return e instanceof t}static isEncoding(e){try{return it(e),
!0}catch{return!1}}static byteLength(e,r){return typeof e=="string"?Y(e,it(r)).byteLength:e.byteLength}static concat(e,r=e.
reduce((n,o)=>n+o.length,0)){let n=new t(r),o=0;for(let s of e)if(n.set(s.subarray(0,Math.max(0,r-o)),o),o+=s.length,o>=
r)break;return n}static compare(e,r){let n=Math.min(e.length,r.length);for(let o=0;o<n;o++)if(e[o]!==r[o])return e[o]<r[o]?
-1:1;return Math.sign(e.length-r.length)}toString(e,r=0,n=this.length){return ot(E(this.subarray(r,n)),it(e))}toJSON(){return{
type:"Buffer",data:Array.from(this)}}equals(e){return t.compare(this,e)===0}compare(e){return t.compare(this,e)}write(e,r,n,o){
if(typeof r=="string")return this.write(e,0,void 0,r);if(typeof n=="string")return this.write(e,r,void 0,n);let s=r||0,c=t.
from(e,o),f=Math.min(c.length,this.length-s,n??Number.POSITIVE_INFINITY);return this.set(c.subarray(0,f),s),f}copy(e,r=0,n=0,o=this.
length){let s=this.subarray(n,o).subarray(0,e.length-r);return e.set(s,r),s.length}slice(e,r){return this.subarray(e,r)}fill(e,r,n,o){
if(typeof e!="string")return super.fill(e,r,n);let s=t.from(e,o);if(s.length===0)return super.fill(0,r,n);let c=r||0;for(let f=c;f<
(n??this.length);f++)this[f]=s[(f-c)%s.length];return this}indexOf(e,r,n){if(typeof e=="number")return super.indexOf(e,r);
let o=typeof e=="string"?t.from(e,n):e;for(let s=r||0;s+o.length<=this.length;s++)if(o.every((c,f)=>this[s+f]===c))return s;
return-1}includes(e,r,n){return this.indexOf(e,r,n)!==-1}},er=[["UInt8",1,(t,e)=>t.getUint8(e),(t,e,r)=>t.setUint8(e,r)],
["Int8",1,(t,e)=>t.getInt8(e),(t,e,r)=>t.setInt8(e,r)],["UInt16",2,(t,e,r)=>t.getUint16(e,r),(t,e,r,n)=>t.setUint16(e,r,
n)],["Int16",2,(t,e,r)=>t.getInt16(e,r),(t,e,r,n)=>t.setInt16(e,r,n)],["UInt32",4,(t,e,r)=>t.getUint32(e,r),(t,e,r,n)=>t.
setUint32(e,r,n)],["Int32",4,(t,e,r)=>t.getInt32(e,r),(t,e,r,n)=>t.setInt32(e,r,n)],["Float",4,(t,e,r)=>t.getFloat32(e,r),
(t,e,r,n)=>t.setFloat32(e,r,n)],["Double",8,(t,e,r)=>t.getFloat64(e,r),(t,e,r,n)=>t.setFloat64(e,r,n)],["BigInt64",8,(t,e,r)=>t.
getBigInt64(e,r),(t,e,r,n)=>t.setBigInt64(e,r,n)],["BigUInt64",8,(t,e,r)=>t.getBigUint64(e,r),(t,e,r,n)=>t.setBigUint64(
e,r,n)]],re=i(({buffer:t,byteOffset:e,byteLength:r})=>new DataView(t,e,r),"viewOf");for(let[t,e,r,n]of er)for(let o of e===
1?[""]:["LE","BE"]){let s=o==="LE";Object.assign(a.prototype,{[\`read\${t}\${o}\`](c=0){return r(re(this),c,s)},[\`write\${t}\${o}\`](c,f=0){
return n(re(this),f,c,s),f+e}})}var ne={Buffer:a,constants:{MAX_LENGTH:2147483647}};var ie=Symbol.for("nodejs.util.inspect.custom");function u(t,e,r){let n=typeof e=="object"&&e!==null?e:{depth:r},{depth:o=2,
breakLength:s=72}=n,c=o===null?Number.POSITIVE_INFINITY:o;return A({options:n,maxDepth:c,width:s,ancestors:[]},t,0,"")}i(
u,"inspect");u.custom=ie;function A(t,e,r,n){if(e===null||typeof e!="object"&&typeof e!="function")return oe(e);if(t.ancestors.
includes(e))return"[Circular *1]";let o=e[ie];if(typeof o=="function"&&o!==u){let x=o.call(e,t.maxDepth-r,t.options,u);return typeof x==
"string"?x:A(t,x,r,n)}if(e instanceof Number||e instanceof String||e instanceof Boolean)return\`[\${ce(e)}: \${oe(e.valueOf())}\\
]\`;let{prefix:s,isList:c=!1,keys:f,text:l}=nr(e);if(l!==void 0)return l;if(r>t.maxDepth)return c?"[Array]":\`[\${s.replace(
/\\(\\d+\\) $/,"").trim()||"Object"}]\`;t.ancestors.push(e);let d=cr(t,e,c,f,r+1,\`\${n}  \`);return t.ancestors.pop(),ur(d,s,c,
n,t.width)}i(A,"show");function oe(t){return typeof t=="string"?se(t):typeof t=="bigint"?\`\${t}n\`:Object.is(t,-0)?"-0":String(
t)}i(oe,"showPrimitive");function se(t){let e=t.includes("'")&&!t.includes('"')?'"':"'",r=JSON.stringify(t).slice(1,-1).
replace(/\\\\"/g,'"');return e+(e==="'"?r.replace(/'/g,"\\\\'"):r)+e}i(se,"quote");function rr(t){if(typeof t=="symbol")return\`\\
[\${String(t)}]\`;let e=String(t);return/^[A-Za-z_$][\\w$]*$/.test(e)?e:se(e)}i(rr,"showKey");function ce(t){for(let e=Object.
getPrototypeOf(t);e;e=Object.getPrototypeOf(e))if(Object.hasOwn(e,"constructor")&&typeof e.constructor=="function")return e.
constructor.name;return null}i(ce,"constructorName");function It(t){return Object.getOwnPropertySymbols(t).filter(e=>Object.
prototype.propertyIsEnumerable.call(t,e))}i(It,"enumerableSymbols");function nr(t){let e=[...Object.keys(t),...It(t)],r=ce(
t);return Array.isArray(t)?{prefix:r==="Array"?"":\`\${r}(\${t.length}) \`,isList:!0,keys:e}:t instanceof Error?or(t,e):typeof t==
"function"?st(ir(t,r),e):t instanceof RegExp?st(String(t),e):t instanceof Date?st(Number.isNaN(t.getTime())?"Invalid Dat\\
e":t.toISOString(),e):t instanceof Map?{prefix:\`Map(\${t.size}) \`,keys:e}:t instanceof Set?{prefix:\`Set(\${t.size}) \`,keys:e}:
t instanceof Promise?{prefix:"",keys:e,text:"Promise { <pending> }"}:t instanceof a?{prefix:"",keys:e,text:sr(t)}:ArrayBuffer.
isView(t)&&!(t instanceof DataView)?{prefix:\`\${r}(\${t.length}) \`,isList:!0,keys:e}:r===null?{prefix:"[Object: null proto\\
type] ",keys:e}:{prefix:r==="Object"?"":\`\${r} \`,keys:e}}i(nr,"shapeOf");function st(t,e){return e.length===0?{prefix:"",
keys:e,text:t}:{prefix:\`\${t} \`,keys:e}}i(st,"labelled");function or(t,e){let r=String(t.stack??"").split(\`
\`).filter(s=>s!==""&&!/\\((<\\w+>[:)]|native\\))|at <eval> \\(\\S*<main>/.test(s)).join(\`
\`),n=(t.name||"Error")+(t.message?\`: \${t.message}\`:""),o=e.filter(s=>s!=="stack"&&s!=="message");return t.cause!==void 0&&
!o.includes("cause")&&o.push("cause"),st(r?\`\${n}
\${r}\`:\`[\${n}]\`,o)}i(or,"errorShape");function ir(t,e){if(/^class\\b/.test(Function.prototype.toString.call(t)))return\`[cl\\
ass \${t.name||"(anonymous)"}]\`;let r=t.name?\`: \${t.name}\`:" (anonymous)";return\`[\${e==="AsyncFunction"?"AsyncFunction":"\\
Function"}\${r}]\`}i(ir,"functionLabel");function sr(t){let e=Array.from(t.subarray(0,50),n=>\` \${n.toString(16).padStart(2,
"0")}\`),r=t.length>50?\` ... \${t.length-50} more bytes\`:"";return\`<Buffer\${e.join("")}\${r}>\`}i(sr,"bufferText");function cr(t,e,r,n,o,s){
let c=[];if(r)c.push(...fr(t,e,o,s));else if(e instanceof Map)for(let[f,l]of e)c.push(\`\${A(t,f,o,s)} => \${A(t,l,o,s)}\`);else if(e instanceof
Set)for(let f of e)c.push(A(t,f,o,s));for(let f of n){if(r&&typeof f!="symbol"&&/^\\d+$/.test(String(f)))continue;let l=Object.
getOwnPropertyDescriptor(e,f),d=l?.get?l.set?"[Getter/Setter]":"[Getter]":l?.set?"[Setter]":A(t,e[f],o,s);c.push(\`\${rr(f)}\\
: \${d}\`)}return c}i(cr,"itemsOf");function fr(t,e,r,n){let o=[];for(let s=0;s<e.length&&s<100;s++){if(s in e){o.push(A(t,
e[s],r,n));continue}let c=1;for(;s+1<e.length&&!(s+1 in e);)s++,c++;o.push(\`<\${c} empty item\${c>1?"s":""}>\`)}return e.length>
100&&o.push(\`... \${e.length-100} more item\${e.length>101?"s":""}\`),o}i(fr,"listItems");function ur(t,e,r,n,o){let[s,c]=r?
["[","]"]:["{","}"];if(t.length===0)return e+s+c;let f=t.reduce(($,St)=>$+St.length+2,0),l=r&&t.length>6;if(!l&&f+e.length<=
o&&t.every($=>!$.includes(\`
\`)))return\`\${e}\${s} \${t.join(", ")} \${c}\`;let x=l&&t.every($=>$.length<=6)?ar(t):t.map(($,St)=>St<t.length-1?\`\${$},\`:$);
return\`\${e}\${s}
\${n}  \${x.join(\`
\${n}  \`)}
\${n}\${c}\`}i(ur,"layOut");function ar(t){let e=[],r=Math.max(...t.map(s=>s.length))+2,n=Math.max(1,Math.min(16,Math.floor(
Math.sqrt(2.5*r*t.length)/r))),o=t.every(s=>/^-?[\\d.]+n?$/.test(s));for(let s=0;s<t.length;s+=n){let c=t.slice(s,s+n).map(
(f,l,d)=>{let x=f+(s+l<t.length-1?",":"");return o?x.padStart(r-1):l===d.length-1?x:x.padEnd(r-1)});e.push(c.join(" ").replace(
/ +$/,""))}return e}i(ar,"columns");function U(...t){if(t.length===0)return"";let[e,...r]=t;return[typeof e=="string"?lr(
e,r):u(e),...r.map(o=>typeof o=="string"?o:u(o))].join(" ")}i(U,"format");function lr(t,e){return t.replace(/%[sdifjoOc%]/g,
r=>{if(r==="%%")return"%";if(e.length===0)return r;let n=e.shift();switch(r){case"%s":return typeof n=="object"&&n!==null?
u(n,{depth:0}):Object.is(n,-0)?"-0":String(n)+(typeof n=="bigint"?"n":"");case"%d":return typeof n=="object"?"NaN":String(
Number(n));case"%i":return String(Number.parseInt(String(n),10));case"%f":return String(Number.parseFloat(String(n)));case"\\
%j":return JSON.stringify(n);case"%c":return"";default:return u(n)}})}i(lr,"fill");var ct=new WeakMap;function S(t,e){let r=ct.get(t)??new Map;ct.set(t,r);let n=r.get(e)??[];return r.set(e,n),n}i(S,"regi\\
strations");var k=class t{static{i(this,"EventEmitter")}on(e,r){return S(this,e).push({run:r,isOnce:!1}),this}addListener(e,r){
return this.on(e,r)}prependListener(e,r){return S(this,e).unshift({run:r,isOnce:!1}),this}once(e,r){return S(this,e).push(
{run:r,isOnce:!0}),this}off(e,r){let n=S(this,e),o=n.findLastIndex(s=>s.run===r);return o!==-1&&n.splice(o,1),this}removeListener(e,r){
return this.off(e,r)}removeAllListeners(e){return e===void 0?ct.delete(this):S(this,e).length=0,this}emit(e,...r){let n=[
...S(this,e)];if(n.length===0){if(e!=="error")return!1;throw r[0]instanceof Error?r[0]:new Error(\`Unhandled error. (\${u(
r[0])})\`)}for(let{run:o,isOnce:s}of n)s&&this.off(e,o),o.apply(this,r);return!0}listenerCount(e){return S(this,e).length}listeners(e){
return S(this,e).map(({run:r})=>r)}eventNames(){return[...ct.get(this)??[]].filter(([,e])=>e.length>0).map(([e])=>e)}setMaxListeners(){
return this}getMaxListeners(){return 10}static EventEmitter=t;static once=i((e,r)=>new Promise((n,o)=>{e.once(r,(...s)=>n(
s)),r!=="error"&&e.once("error",o)}),"once")};var Mt={};Ze(Mt,{clearImmediate:()=>R,clearInterval:()=>R,clearTimeout:()=>R,queueMicrotask:()=>mr,runDueTimer:()=>Nt,setImmediate:()=>I,
setInterval:()=>fe,setTimeout:()=>Z,timeToNextTimer:()=>jt,timersModule:()=>At,timersPromises:()=>Rt});var M=[],pr=1,X=class{static{i(this,"Timeout")}constructor(e){this.id=e}ref(){return this}unref(){for(let e of M)e.id===
this.id&&(e.isWeak=!0);return this}hasRef(){return!0}[Symbol.toPrimitive](){return this.id}};function Tt(t,e,r,n){if(typeof t!=
"function"){let c=\`The "callback" argument must be of type function. Received \${u(t)}\`;throw y(TypeError,"ERR_INVALID_AR\\
G_TYPE",c)}let o=e>=1&&e<=2147483647?Math.floor(e):1,s={id:pr++,dueAt:Date.now()+o,run:t,args:r,interval:n?o:0,isWeak:!1};
return M.push(s),s}i(Tt,"start");function Z(t,e,...r){return new X(Tt(t,e,r,!1).id)}i(Z,"setTimeout");function fe(t,e,...r){
return new X(Tt(t,e,r,!0).id)}i(fe,"setInterval");function I(t,...e){let r=Tt(t,1,e,!1);return r.dueAt=0,new X(r.id)}i(I,
"setImmediate");function R(t){if(t==null)return;let e=typeof t=="object"?t.id:Number(t);M=M.filter(r=>r.id!==e)}i(R,"cle\\
ar");function mr(t){Promise.resolve().then(t)}i(mr,"queueMicrotask");function jt(){return M.every(t=>t.isWeak)?-1:Math.max(0,
Math.min(...M.map(({dueAt:t})=>t))-Date.now())}i(jt,"timeToNextTimer");function Nt(){let t=Date.now(),[e]=M.filter(({dueAt:r})=>r<=
t).sort((r,n)=>r.dueAt-n.dueAt||r.id-n.id);e!==void 0&&(e.interval>0?e.dueAt=t+e.interval:R(e.id),e.run(...e.args))}i(Nt,
"runDueTimer");var At={setTimeout:Z,setInterval:fe,setImmediate:I,clearTimeout:R,clearInterval:R,clearImmediate:R},Rt={setTimeout:i(
(t,e)=>new Promise(r=>Z(r,t,e)),"setTimeout"),setImmediate:i(t=>new Promise(e=>I(e,t)),"setImmediate")};var ue=Date.now(),C={now:i(()=>Date.now()-ue,"now"),timeOrigin:ue,mark(){},measure(){}};function ae(t){return a.from(String(
t),"base64").toString("latin1")}i(ae,"atob");function le(t){return a.from(String(t),"latin1").toString("base64")}i(le,"b\\
toa");function pe(t){return F(t,new Map)}i(pe,"structuredClone");function F(t,e){if(typeof t=="function"||typeof t=="sym\\
bol")throw new Error(\`\${u(t)} could not be cloned.\`);if(typeof t!="object"||t===null)return t;let r=e.get(t);if(r!==void 0)
return r;if(t instanceof Date)return new Date(t);if(t instanceof RegExp)return new RegExp(t.source,t.flags);if(t instanceof
ArrayBuffer)return t.slice(0);if(ArrayBuffer.isView(t)){let n=t.constructor;return new n(E(t))}if(t instanceof Error){let n=t.
constructor;return Object.assign(new n(t.message),{stack:t.stack})}return hr(t,e)}i(F,"clone");function hr(t,e){if(t instanceof
Map){let n=new Map;e.set(t,n);for(let[o,s]of t)n.set(F(o,e),F(s,e));return n}if(t instanceof Set){let n=new Set;e.set(t,
n);for(let o of t)n.add(F(o,e));return n}if(Array.isArray(t)){let n=[];return e.set(t,n),t.forEach((o,s)=>{n[s]=F(o,e)}),
n}let r={};e.set(t,r);for(let[n,o]of Object.entries(t))Object.assign(r,{[n]:F(o,e)});return r}i(hr,"cloneContainer");function me(t){function e(n,o,s){O(t,typeof n=="string"?n:a.from(n).toString());let c=typeof o=="function"?o:s;return typeof c==
"function"&&I(c),!0}i(e,"write");let r=Object.assign(new k,{fd:t,isTTY:!1,writable:!0,columns:80,write:e,end(n){n!==void 0&&
r.write(n)}});return r}i(me,"outputStream");var Dt=class extends k{static{i(this,"InputStream")}fd=0;isTTY=!1;#t=!1;#e=!1;setEncoding=i(
()=>(this.#t=!0,this),"setEncoding");resume=i(()=>this,"resume");pause=i(()=>this,"pause");on=i((e,r)=>(super.on(e,r),!this.#e&&
(e==="data"||e==="end"||e==="readable")&&(this.#e=!0,I(()=>{b.stdin!==""&&this.emit("data",this.#r()),this.emit("end"),this.
emit("close")})),this),"on");async*[Symbol.asyncIterator](){b.stdin!==""&&(yield this.#r())}#r(){let e=a.from(b.stdin,"l\\
atin1");return this.#t?e.toString():e}};function ge(t){let e=Date.now(),r=Math.floor(e/1e3),n=e%1e3*1e6;if(!t)return[r,n];
let o=n<t[1]?1:0;return[r-t[0]-o,(n-t[1]+1e9)%1e9]}i(ge,"hrtime");ge.bigint=()=>BigInt(Date.now())*1000000n;var ye=b.cwd,
he=!1;function we(t){ye=t}i(we,"setWorkingDirectory");var w=Object.assign(new k,{argv:b.argv,argv0:"node",execArgv:[],execPath:"\\
/usr/bin/node",title:"node",pid:1,ppid:0,arch:"x64",platform:"linux",version:"v20.19.0",versions:{node:"20.19.0"},release:{
name:"node"},env:b.env,exitCode:void 0,stdin:new Dt,stdout:me(1),stderr:me(2),cwd:i(()=>ye,"cwd"),exit(t){return t!==void 0&&
(w.exitCode=t),he||(he=!0,w.emit("exit",w.exitCode||0)),de(Number(w.exitCode||0))},abort:i(()=>de(134),"abort"),nextTick(t,...e){
Promise.resolve().then(()=>t(...e))},hrtime:ge,uptime:i(()=>C.now()/1e3,"uptime"),memoryUsage:i(()=>({rss:0,heapTotal:0,
heapUsed:0,external:0,arrayBuffers:0}),"memoryUsage"),umask:i(()=>18,"umask"),getuid:i(()=>1e3,"getuid"),getgid:i(()=>1e3,
"getgid"),emitWarning(t){let{name:e,message:r}=typeof t=="string"?{name:void 0,message:t}:t;w.stderr.write(\`(node) \${e||
"Warning"}: \${r||t}
\`)}});function de(t){for(Qt(t);;);}i(de,"exitNow");function D(t){if(typeof t=="string")return;let e=\`The "path" argument must be of type string. Received \${u(t)}\`;throw y(
TypeError,"ERR_INVALID_ARG_TYPE",e)}i(D,"requireString");function qt(t){if(t==="")return".";let e=t.startsWith("/"),r=t.
endsWith("/"),n=[];for(let s of t.split("/"))s===""||s==="."||(s===".."&&n.length>0&&n.at(-1)!==".."?n.pop():(s!==".."||
!e)&&n.push(s));let o=n.join("/");return o===""&&!e?r?"./":".":(e?"/":"")+o+(r&&o!==""?"/":"")}i(qt,"normalizeSegments");
var h={sep:"/",delimiter:":",normalize(t){return D(t),qt(t)},isAbsolute(t){return D(t),t.startsWith("/")},join(...t){t.forEach(
D);let e=t.filter(r=>r!=="").join("/");return e===""?".":qt(e)},resolve(...t){let e="";for(let r=t.length-1;r>=0&&!e.startsWith(
"/");r--)D(t[r]),t[r]!==""&&(e=t[r]+(e===""?"":\`/\${e}\`));return e.startsWith("/")||(e=w.cwd()+(e===""?"":\`/\${e}\`)),e=qt(
e),e.length>1&&e.endsWith("/")?e.slice(0,-1):e},relative(t,e){let r=h.resolve(t).split("/").filter(Boolean),n=h.resolve(
e).split("/").filter(Boolean),o=0;for(;o<r.length&&o<n.length&&r[o]===n[o];)o++;return[...r.slice(o).map(()=>".."),...n.
slice(o)].join("/")},dirname(t){D(t);let e=t.replace(/\\/+$/,""),r=e.lastIndexOf("/");return e===""?t.startsWith("/")?"/":
".":r===-1?".":e.slice(0,r).replace(/\\/+$/,"")||"/"},basename(t,e){D(t);let r=t.replace(/\\/+$/,"").split("/").pop();return e&&
r!==e&&r.endsWith(e)?r.slice(0,-e.length):r},extname(t){D(t);let e=h.basename(t),r=e.lastIndexOf(".");return r<=0?"":e.slice(
r)},parse(t){let e=h.basename(t),r=h.extname(t);return{root:t.startsWith("/")?"/":"",dir:t.includes("/")?h.dirname(t):"",
base:e,ext:r,name:r?e.slice(0,-r.length):e}},format(t){let e=t.base||(t.name||"")+(t.ext||""),r=t.dir||t.root;return r?r===
t.root?r+e:\`\${r}/\${e}\`:e},toNamespacedPath:i(t=>t,"toNamespacedPath")};Object.assign(h,{posix:h});var Lt=/^file:\\/\\/\\//,ft=class{static{i(this,"FileUrl")}constructor(e){this.protocol="file:",this.pathname=e.split("/").
map(encodeURIComponent).join("/"),this.href=\`file://\${this.pathname}\`}toString(){return this.href}toJSON(){return this.href}},
Q=class extends ft{static{i(this,"URL")}constructor(e,r){super(dr(String(e),r===void 0?void 0:String(r)))}};function dr(t,e){
if(Lt.test(t))return decodeURIComponent(t.slice(7));if(e===void 0||!Lt.test(e)||/^[a-z][a-z0-9+.-]*:/i.test(t))throw y(TypeError,
"ERR_INVALID_URL",\`Only file URLs are available in this shell: \${t}\`);let r=decodeURIComponent(e.slice(7));return h.normalize(
t.startsWith("/")?t:r.slice(0,r.lastIndexOf("/")+1)+t)}i(dr,"filePath");function v(t){let e=typeof t=="string"?t:t.href;
if(!Lt.test(e))throw y(TypeError,"ERR_INVALID_URL_SCHEME","The URL must be of scheme file");return decodeURIComponent(e.
slice(7).replace(/[?#].*$/,""))}i(v,"fileURLToPath");var be={fileURLToPath:v,pathToFileURL:i(t=>new ft(h.resolve(t)),"pa\\
thToFileURL"),URL:Q};var ut=class{static{i(this,"Entry")}#t;constructor(e){this.#t=e}isFile(){return this.#t==="file"}isDirectory(){return this.#t===
"directory"}isSymbolicLink(){return this.#t==="link"}},at=class extends ut{static{i(this,"Stats")}constructor({type:e,size:r,
mode:n,mtimeMs:o}){super(e);let s=new Date(o);this.size=r,this.mode=n,this.mtimeMs=o,this.mtime=s,this.atimeMs=this.ctimeMs=
this.birthtimeMs=o,this.atime=this.ctime=this.birthtime=s,this.dev=0,this.ino=0,this.nlink=1,this.uid=0,this.gid=0}isFIFO(){
return!1}isSocket(){return!1}isBlockDevice(){return!1}isCharacterDevice(){return!1}},lt=class extends ut{static{i(this,"\\
Dirent")}constructor(e,r,n){super(r),this.name=e,this.parentPath=n,this.path=n}};function _t(t,e,r){let n=\`The "\${t}" ar\\
gument must be of type \${e}. Received \${u(r)}\`;return y(TypeError,"ERR_INVALID_ARG_TYPE",n)}i(_t,"wrongArgument");function p(t){
let e=t;if(t&&typeof t=="object"&&"href"in t&&typeof t.href=="string"?e=v(t.href):t instanceof Uint8Array&&(e=a.from(t).
toString()),typeof e!="string")throw _t("path","string or an instance of Buffer or URL",t);return h.resolve(e)}i(p,"abso\\
lutePath");var Pt=i(t=>typeof t=="string"?t:t?.encoding,"encodingOf");function Ee(t,e){if(typeof t=="string")return E(a.
from(t,e));if(ArrayBuffer.isView(t))return E(t);throw _t("data","string or an instance of Buffer, TypedArray, or DataVie\\
w",t)}i(Ee,"bytesToWrite");function xe(t){return(e,r)=>{try{return new at(m(t,[p(e)]))}catch(n){let{code:o}=n;if(r?.throwIfNoEntry===
!1&&o==="ENOENT")return;throw n}}}i(xe,"statBy");function $e(t,e,r){return m("readdir",[t]).flatMap(({name:n,type:o})=>{
let s=r.withFileTypes?new lt(n,o,t):e+n;return!r.recursive||o!=="directory"?[s]:[s,...$e(\`\${t}/\${n}\`,\`\${e}\${n}/\`,r)]})}i(
$e,"entriesOf");var q={readFile(t,e){let n=t===0||t==="/dev/stdin"?a.from(b.stdin,"latin1"):a.from(m("read",[p(t)])),o=Pt(
e);return o&&o!=="buffer"?n.toString(o):n},writeFile(t,e,r){if(t===1||t===2){O(t,typeof e=="string"?e:a.from(e).toString());
return}let n=typeof r=="object"?r?.flag:void 0;if(n?.includes("x")&&q.exists(t)){let o=\`EEXIST: file already exists, ope\\
n '\${t}'\`;throw B({message:o,code:"EEXIST",syscall:"open",path:String(t)})}kt(p(t),Ee(e,Pt(r)),n?.startsWith("a")===!0)},
appendFile(t,e,r){kt(p(t),Ee(e,Pt(r)),!0)},exists(t){try{return m("stat",[p(t)]),!0}catch{return!1}},access(t){m("access",
[p(t)])},stat:xe("stat"),lstat:xe("lstat"),readdir(t,e){return $e(p(t),"",typeof e=="object"&&e!==null?e:{})},mkdir(t,e){
let r=typeof e=="object"&&e?.recursive===!0;return m("mkdir",[p(t),r])||void 0},mkdtemp(t){for(;;){let e=t+Math.random().
toString(36).slice(2,8).padEnd(6,"x");if(!q.exists(e))return q.mkdir(e,{recursive:!0}),e}},rm(t,e){m("rm",[p(t),!!e?.recursive,
!!e?.force])},rmdir(t,e){m("rmdir",[p(t),!!e?.recursive])},unlink(t){m("unlink",[p(t)])},rename(t,e){m("rename",[p(t),p(
e)])},copyFile(t,e){m("copy",[p(t),p(e),!1])},cp(t,e,r){m("copy",[p(t),p(e),!!r?.recursive])},symlink(t,e){m("symlink",[
t,p(e)])},readlink:i(t=>m("readlink",[p(t)]),"readlink"),realpath:i(t=>m("realpath",[p(t)]),"realpath"),chmod(t,e){m("ch\\
mod",[p(t),typeof e=="string"?Number.parseInt(e,8):e])},utimes(t){m("stat",[p(t)])},truncate(t,e=0){let r=a.alloc(e);r.set(
a.from(q.readFile(t)).subarray(0,e)),q.writeFile(t,r)}},gr=["createReadStream","createWriteStream","watch","watchFile","\\
openSync","open","readSync","writeSync","closeSync","opendirSync"],Oe={F_OK:0,R_OK:4,W_OK:2,X_OK:1,COPYFILE_EXCL:1},pt={
constants:Oe},W={constants:Oe,Stats:at,Dirent:lt,promises:pt,statSync:q.stat};for(let[t,e]of Object.entries(q)){let r=e;
Object.assign(W,{[\`\${t}Sync\`]:r,[t]:yr(t,r)}),t!=="exists"&&(pt[t]=async(...n)=>r(...n))}for(let t of gr)Object.assign(W,
{[t](){throw y(Error,"ERR_NOT_AVAILABLE",\`fs.\${t} is not available in this shell\`)}});function yr(t,e){return(...r)=>{let n=r.
pop();if(typeof n!="function")throw _t("cb","function",n);let o;try{let s=e(...r);o=t==="exists"?[s]:[null,s]}catch(s){o=
[s]}I(()=>n(...o))}}i(yr,"withCallback");function Se(t){let e=h.resolve(t);if(!W.statSync(e)?.isDirectory())throw B({code:"ENOTDIR",message:\`ENOTDIR: not a direc\\
tory, chdir '\${t}'\`});we(e)}i(Se,"chdir");var tt="",Bt=new Map,ke=new Map;function Te(t){return(...e)=>{let r=U(...e);O(t,\`\${tt?r.replace(/^/gm,tt):r}
\`)}}i(Te,"printTo");var T=Te(1),mt=Te(2);function Ie(...t){t.length>0&&T(...t),tt+="  "}i(Ie,"group");var ht={log:T,info:T,
debug:T,error:mt,warn:mt,trace(...t){mt(\`Trace: \${U(...t)}
\${new Error().stack}\`)},dir(t,e){T(u(t,e))},table(t){T(t)},group:Ie,groupEnd(){tt=tt.slice(2)},assert(t,...e){t||mt(\`Ass\\
ertion failed\${e.length>0?\`: \${U(...e)}\`:""}\`)},count(t="default"){let e=(Bt.get(t)??0)+1;Bt.set(t,e),T(\`\${t}: \${e}\`)},countReset(t="\\
default"){Bt.set(t,0)},time(t="default"){ke.set(t,Date.now())},timeEnd(t="default"){T(\`\${t}: \${Date.now()-(ke.get(t)??Number.
NaN)}ms\`)},groupCollapsed:Ie};var dt=i((t,e)=>t==e,"isLooselyEqual");function j(t,e,r){return V(t,e,{isStrict:r,ancestors:[]})}i(j,"isDeepEqual");function Ut(t,e){return dt(t,e)||Number.isNaN(
t)&&Number.isNaN(e)}i(Ut,"isEqual");function V(t,e,r){let{isStrict:n,ancestors:o}=r;if(n?Object.is(t,e):Ut(t,e))return!0;
if(typeof t!="object"||typeof e!="object"||t===null||e===null||n&&Object.getPrototypeOf(t)!==Object.getPrototypeOf(e)||Array.
isArray(t)!==Array.isArray(e))return!1;if(o.some(([s,c])=>s===t&&c===e))return!0;o.push([t,e]);try{return wr(t,e,r)}finally{
o.pop()}}i(V,"compare");function wr(t,e,r){if(!br(t,e))return!1;if(ArrayBuffer.isView(t))return ArrayBuffer.isView(e)&&Er(
t,e);if((t instanceof Map||e instanceof Map)&&(!(t instanceof Map&&e instanceof Map)||!xr(t,e,r))||(t instanceof Set||e instanceof
Set)&&(!(t instanceof Set&&e instanceof Set)||!$r(t,e,r))||Array.isArray(t)&&t.length!==e.length)return!1;let n=je(t,r.isStrict);
if(n.length!==je(e,r.isStrict).length)return!1;let[o,s]=[t,e];return n.every(c=>Object.hasOwn(e,c)&&V(o[c],s[c],r))}i(wr,
"compareObjects");function br(t,e){return!((t instanceof Date||e instanceof Date)&&(!(t instanceof Date&&e instanceof Date)||
t.getTime()!==e.getTime())||(t instanceof RegExp||e instanceof RegExp)&&String(t)!==String(e)||(t instanceof Error||e instanceof
Error)&&(!(t instanceof Error&&e instanceof Error)||t.message!==e.message||t.name!==e.name)||(t instanceof Number||t instanceof
String||t instanceof Boolean)&&!Object.is(t.valueOf(),e.valueOf()))}i(br,"compareWrapped");function Er(t,e){if(t.byteLength!==
e.byteLength)return!1;let[r,n]=[t,e];for(let o=0;o<r.length;o++)if(!Object.is(r[o],n[o]))return!1;return!0}i(Er,"compare\\
Views");function xr(t,e,r){if(t.size!==e.size)return!1;for(let[n,o]of t)if(!(e.has(n)?V(o,e.get(n),r):[...e].some(c=>V(n,
c[0],r)&&V(o,c[1],r))))return!1;return!0}i(xr,"compareMaps");function $r(t,e,r){if(t.size!==e.size)return!1;for(let n of t)
if(!e.has(n)&&![...e].some(o=>V(n,o,r)))return!1;return!0}i($r,"compareSets");function je(t,e){return e?[...Object.keys(
t),...It(t)]:Object.keys(t)}i(je,"comparableKeys");var G=class extends Error{static{i(this,"AssertionError")}constructor({message:e,actual:r,expected:n,operator:o,isGenerated:s=!1}){
super(e),this.name="AssertionError",this.code="ERR_ASSERTION",this.actual=r,this.expected=n,this.operator=o,this.generatedMessage=
s}get[Symbol.toStringTag](){return"AssertionError"}};function g(t,e,r,n,o){if(t instanceof Error)throw t;let s=t===void 0;
throw new G({message:s?o():String(t),isGenerated:s,actual:e,expected:r,operator:n})}i(g,"fail");var Ne=i(t=>u(t,{depth:8}).
split(\`
\`),"linesOf");function gt(t,e,r){return()=>{let n=Ne(e),o=Ne(r);return n.length===1&&o.length===1&&typeof e!="object"&&typeof r!=
"object"?\`\${t}:

\${n[0]} !== \${o[0]}
\`:\`\${t}:
+ actual - expected

\${Or(n,o).join(\`
\`)}
\`}}i(gt,"difference");function Or(t,e){let r=[],n=0,o=0;for(;n<t.length||o<e.length;){if(n<t.length&&o<e.length&&t[n]===
e[o]){r.push(\`  \${t[n]}\`),n++,o++;continue}let s=e.indexOf(t[n],o),c=t.indexOf(e[o],n),f=s===-1&&c===-1,l=c!==-1&&(s===-1||
c-n<=s-o);n<t.length&&(l||o>=e.length||f)?(r.push(\`+ \${t[n++]}\`),f&&o<e.length&&r.push(\`- \${e[o++]}\`)):r.push(\`- \${e[o++]}\`)}
return r}i(Or,"differingLines");function Ae(t,e,r,n){if(e===void 0)return;if(typeof e=="function"){if(e.prototype!==void 0&&
t instanceof e)return;if(Object.prototype.isPrototypeOf.call(Error,e)||e===Error)throw t;let s=e.call({},t);if(s===!0)return;
let c=\`The validation function is expected to return "true". Received \${u(s)}\`;g(r,t,e,n,()=>c)}if(e instanceof RegExp){
e.test(String(t))||g(r,t,e,n,()=>Le(String(t),e));return}let o=e;for(let s of[...Object.keys(o),...e instanceof Error?["\\
name","message"]:[]]){let c=o[s],f=t?.[s];if(c instanceof RegExp&&typeof f=="string"?c.test(f):j(f,c,!0))continue;let d=gt(
"Expected values to be strictly deep-equal",f,c);g(r,t,e,n,d)}}i(Ae,"requireError");function Le(t,e){return\`The input di\\
d not match the regular expression \${e}. Input:

\${u(t)}
\`}i(Le,"mismatch");function Re(t){let{name:e}=t??{};return e?\` (\${e}).\`:"."}i(Re,"nameOf");function Ft(t){return i(function(...r){
let[n,o]=r;n||g(r.length===0?"No value argument passed to assert.ok()":o,n,!0,"==",()=>\`The expression evaluated to a fa\\
lsy value:

  \${t}(\${u(n)})
\`)},"ok")}i(Ft,"truthyAssertion");var Me=i(async t=>typeof t=="function"?t():t,"settle"),De=i((t,e)=>typeof t=="string"?
[void 0,t]:[t,e],"expectation");function qe(t,e,r,n){let{message:o}=e??{};g(typeof r=="string"?r:void 0,e,void 0,n,()=>\`\\
Got unwanted \${t}.
Actual message: "\${o}"\`)}i(qe,"failUnwanted");var z={equal(t,e,r){Ut(t,e)||g(r,t,e,"==",()=>\`\${u(t)} == \${u(e)}\`)},notEqual(t,e,r){
dt(t,e)&&g(r,t,e,"!=",()=>\`\${u(t)} != \${u(e)}\`)},strictEqual(t,e,r){if(Object.is(t,e))return;let n=gt("Expected values t\\
o be strictly equal",t,e);g(r,t,e,"strictEqual",n)},notStrictEqual(t,e,r){Object.is(t,e)&&g(r,t,e,"notStrictEqual",()=>\`\\
Expected "actual" to be strictly unequal to: \${u(e)}\`)},deepEqual(t,e,r){if(j(t,e,!1))return;let n=gt("Expected values t\\
o be loosely deep-equal",t,e);g(r,t,e,"deepEqual",n)},notDeepEqual(t,e,r){j(t,e,!1)&&g(r,t,e,"notDeepEqual",()=>\`Expecte\\
d "actual" not to be loosely deep-equal to: \${u(e)}\`)},deepStrictEqual(t,e,r){if(j(t,e,!0))return;let n=gt("Expected val\\
ues to be strictly deep-equal",t,e);g(r,t,e,"deepStrictEqual",n)},notDeepStrictEqual(t,e,r){j(t,e,!0)&&g(r,t,e,"notDeepS\\
trictEqual",()=>\`Expected "actual" not to be strictly deep-equal to: \${u(e)}\`)}},Pe={ok:Ft("assert.ok"),match(t,e,r){typeof t==
"string"&&e.test(t)||g(r,t,e,"match",()=>Le(t,e))},doesNotMatch(t,e,r){typeof t!="string"||!e.test(t)||g(r,t,e,"doesNotM\\
atch",()=>\`The input was expected to not match the regular expression \${e}. Input:

\${u(t)}
\`)},fail(t){g(t,void 0,void 0,"fail",()=>"Failed")},ifError(t){if(t==null)return;if(t instanceof Error)throw t;let e=\`if\\
Error got unwanted exception: \${u(t)}\`;throw new G({message:e,actual:t,expected:null,operator:"ifError"})},throws(t,e,r){
let[n,o]=De(e,r);try{t()}catch(s){Ae(s,n,o,"throws");return}g(o,void 0,n,"throws",()=>\`Missing expected exception\${Re(n)}\`)},
doesNotThrow(t,e){try{t()}catch(r){qe("exception",r,e,"doesNotThrow")}},async rejects(t,e,r){let[n,o]=De(e,r);try{await Me(
t)}catch(s){Ae(s,n,o,"rejects");return}g(o,void 0,n,"rejects",()=>\`Missing expected rejection\${Re(n)}\`)},async doesNotReject(t,e){
try{await Me(t)}catch(r){qe("rejection",r,e,"doesNotReject")}}},et=Object.assign(Ft("assert.ok"),Pe,z,{equal:z.strictEqual,
notEqual:z.notStrictEqual,deepEqual:z.deepStrictEqual,notDeepEqual:z.notDeepStrictEqual,AssertionError:G});Object.assign(
et,{strict:et});var yt=Object.assign(Ft("assert"),Pe,z,{AssertionError:G,strict:et});function _e(t){let e=a.alloc(t);for(let r=0;r<t;r++)e[r]=Math.floor(Math.random()*256);return e}i(_e,"randomBytes");var Ct=class{static{
i(this,"Hash")}#t=[];update(e,r){return this.#t.push(typeof e=="string"?a.from(e,r):a.from(e)),this}digest(e){let r=a.from(
Zt(E(a.concat(this.#t))),"hex");return e?r.toString(e):r}},Wt={createHash(t){if(String(t).toLowerCase().replace("-","")!==
"sha256")throw new Error(\`Only sha256 is available in this shell, not \${t}\`);return new Ct},randomBytes:_e,randomInt(t,e){
return e===void 0?Wt.randomInt(0,t):t+Math.floor(Math.random()*(e-t))},randomUUID(){let t=_e(16);return t[6]=t[6]&15|64,
t[8]=t[8]&63|128,t.toString("hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/,"$1-$2-$3-$4-$5")}};var Be={EOL:\`
\`,platform:i(()=>"linux","platform"),type:i(()=>"Linux","type"),arch:i(()=>"x64","arch"),release:i(()=>"0","release"),tmpdir:i(
()=>"/tmp","tmpdir"),homedir:i(()=>"/workspace","homedir"),hostname:i(()=>"workspace","hostname"),cpus:i(()=>[],"cpus"),
availableParallelism:i(()=>1,"availableParallelism"),totalmem:i(()=>0,"totalmem"),freemem:i(()=>0,"freemem"),endianness:i(
()=>"LE","endianness")};function Ue(t,e){let r=typeof t=="function",n=r?t:()=>{},o=(r?e:void 0)??n,s=[];function c(...f){let l={arguments:f,this:this,
result:void 0,error:void 0};s.push(l);try{return l.result=o.apply(this,f),l.result}catch(d){throw l.error=d,d}}return i(
c,"mocked"),c.mock={calls:s,callCount:i(()=>s.length,"callCount"),resetCalls(){s.length=0},mockImplementation(f){o=f},restore(){
o=n}},c}i(Ue,"mockFunction");function Vt(){let t=[],e={fn:Ue,method(r,n,o){let s=r[n],c=Ue(s,o);return r[n]=c,c.mock.restore=
()=>{r[n]=s},t.push(c),c},restoreAll(){for(let{mock:r}of t)r.restore();t=[]},reset(){e.restoreAll()}};return e}i(Vt,"cre\\
ateMocks");var bt=Gt(void 0),L=bt,$t=!1,Fe=!1,P={tests:0,suites:0,pass:0,fail:0,cancelled:0,skipped:0,todo:0},xt=[];function Gt(t){
return{parent:t,items:[],before:[],after:[],beforeEach:[],afterEach:[]}}i(Gt,"createSuite");function Ht(t,e){let r=[...t],
n=typeof r[0]=="string"?r.shift():void 0,o=typeof r[0]=="object"&&r[0]!==null?r.shift():{},s=typeof r[0]=="function"?r.shift():
void 0,c=i(()=>{},"settle"),f=new Promise(d=>{c=d});return{name:String(n||s?.name||"<anonymous>"),options:Object.assign(
{},o,e),run:s,done:f,settle:c}}i(Ht,"parse");function Et(t){return(...e)=>{$t=!0;let r={...Ht(e,t),kind:"test"};return L.
items.push(r),r.done}}i(Et,"testWith");function rt(t){return(...e)=>{$t=!0;let r={...Ht(e,t),kind:"suite",content:Gt(L)};
L.items.push(r);let n=L;L=r.content;try{let o=r.options.skip?void 0:r.run?.call({},{name:r.name});Sr(o)&&(r.building=Promise.
resolve(o))}catch(o){r.failure=o}finally{L=n}return r.done}}i(rt,"describeWith");function Sr(t){return typeof t?.then=="\\
function"}i(Sr,"isThenable");function wt(t){return e=>{$t=!0,L[t].push(e)}}i(wt,"hook");async function We(t,e){return t.
length<2?t.call(e,e):new Promise((r,n)=>{t.call(e,e,o=>o?n(o):r(void 0))})}i(We,"call");async function _(t,e){for(let r of t)
await We(r,e)}i(_,"callAll");async function kr(t,e){if(e===void 0||e===Number.POSITIVE_INFINITY)return t();let r;try{let n=new Promise(
(o,s)=>{let c=\`test timed out after \${e}ms\`;r=Z(()=>s(y(Error,"ERR_TEST_FAILURE",c)),e)});return await Promise.race([t(),
n])}finally{R(r)}}i(kr,"withTimeLimit");function Jt(t,e){O(1,\`\${"  ".repeat(t)}\${e}
\`)}i(Jt,"print");function Ve({name:t,options:e},r,n,o){let s={pass:"✔",fail:"✖",skip:"﹣"}[n],c=e.skip?" # SKIP":e.
todo?" # TODO":"";Jt(r,\`\${s} \${t} (\${Date.now()-o}ms)\${c}\`)}i(Ve,"printOutcome");function ze(t){return b.namePattern===void 0||
new RegExp(b.namePattern).test(t.name)?!0:t.kind==="suite"&&t.content.items.some(ze)}i(ze,"isSelected");function Ce(t,e,r){
let n=[];for(let o=t;o;o=o.parent)n=r?[...o[e],...n]:[...n,...o[e]];return n}i(Ce,"inheritedHooks");function Ir(t,e,r){let n=Gt(
r),o={afterHooks:[],failedParts:0};return{context:{name:t.name,fullName:t.name,signal:{aborted:!1},diagnostic(c){Jt(e,\`ℹ\\
 \${c}\`)},skip(){t.options.skip=!0},todo(){t.options.todo=!0},plan(){},runOnly(){},before:i(c=>{n.before.push(c)},"before"),
after:i(c=>{o.afterHooks.push(c)},"after"),beforeEach:i(c=>{n.beforeEach.push(c)},"beforeEach"),afterEach:i(c=>{n.afterEach.
push(c)},"afterEach"),assert:yt,mock:Vt(),async test(...c){await Ge({...Ht(c),kind:"test"},e+1,n)||o.failedParts++}},state:o}}
i(Ir,"createContext");async function Tr(t,e,r){let{context:n,state:o}=Ir(t,e,r),s;try{if(await _(Ce(r,"beforeEach",!0),n),
await kr(()=>We(t.run,n),t.options.timeout),o.failedParts>0){let c=\`\${o.failedParts} subtest\${o.failedParts>1?"s":""} fa\\
iled\`;throw y(Error,"ERR_TEST_FAILURE",c)}}catch(c){s={error:c===void 0?new Error("undefined was thrown"):c}}try{await _(
o.afterHooks,n),await _(Ce(r,"afterEach",!1),n)}catch(c){s??={error:c}}return n.mock.restoreAll(),s}i(Tr,"attempt");async function Ge(t,e,r){
P.tests++;let n=Date.now(),{options:o,run:s}=t,c=o.skip||s===void 0&&!o.todo,f=c||s===void 0?void 0:await Tr({...t,run:s},
e,r),l=!!(c||o.skip),d=f!==void 0&&!l&&!o.todo;return P[l?"skipped":o.todo?"todo":d?"fail":"pass"]++,Ve(t,e,l?"skip":d?"\\
fail":"pass",n),d&&xt.push({name:t.name,error:f.error}),t.settle(),!d}i(Ge,"runTest");async function jr(t,e){P.suites++;
let r=Date.now(),{content:n,options:o}=t,{failure:s}=t,c=!0;Jt(e,\`▶ \${t.name}\`);try{await t.building}catch(f){s=f}if(s===
void 0&&!o.skip){try{await _(n.before,{}),c=await He(n,e+1)}catch(f){s=f}try{await _(n.after,{})}catch(f){s??=f}}return s!==
void 0&&(c=!1,P.fail++,xt.push({name:t.name,error:s})),Ve(t,e,o.skip?"skip":c?"pass":"fail",r),t.settle(),c}i(jr,"runGro\\
up");async function He(t,e){let r=!0,n=t.items.some(({options:o})=>o.only);for(let o=0;o<t.items.length;o++){let s=t.items[o];
if(n&&!s.options.only||!ze(s)){s.settle();continue}(s.kind==="suite"?await jr(s,e):await Ge(s,e,t))||(r=!1)}return r}i(He,
"runAll");function Je(){Fe||!$t||(Fe=!0,Nr())}i(Je,"startTests");async function Nr(){let[,t]=b.argv;try{await _(bt.before,
{}),await He(bt,0),await _(bt.after,{})}catch(r){P.fail++,xt.push({name:t,error:r})}P.fail>0&&(w.exitCode=1);let e=xt.map(
({name:r,error:n})=>({name:r,file:t,text:u(n)}));vt(JSON.stringify({totals:P,failures:e}))}i(Nr,"runRegistered");var zt=Et(),
Ar=Object.assign(rt(),{skip:rt({skip:!0}),todo:rt({todo:!0}),only:rt({only:!0})}),Ke=Object.assign(zt,{test:zt,it:zt,describe:Ar,
suite:rt(),before:wt("before"),after:wt("after"),beforeEach:wt("beforeEach"),afterEach:wt("afterEach"),mock:Vt(),skip:Et(
{skip:!0}),todo:Et({todo:!0}),only:Et({only:!0})});var H=class{static{i(this,"TextEncoder")}get encoding(){return"utf-8"}encode(e=""){return new Uint8Array(Y(String(e),"ut\\
f8"))}},J=class{static{i(this,"TextDecoder")}constructor(e="utf-8"){this.encoding=String(e).toLowerCase()}decode(e){if(e===
void 0)return"";let r=this.encoding==="latin1"?"latin1":this.encoding==="utf-16le"?"utf16le":"utf8",n=ot(e instanceof ArrayBuffer?
e:E(e),r);return n.charCodeAt(0)===65279?n.slice(1):n}};var Rr={isPromise:i(t=>t instanceof Promise,"isPromise"),isRegExp:i(t=>t instanceof RegExp,"isRegExp"),isDate:i(t=>t instanceof
Date,"isDate"),isMap:i(t=>t instanceof Map,"isMap"),isSet:i(t=>t instanceof Set,"isSet"),isNativeError:i(t=>t instanceof
Error,"isNativeError"),isTypedArray:i(t=>ArrayBuffer.isView(t)&&!(t instanceof DataView),"isTypedArray"),isUint8Array:i(
t=>t instanceof Uint8Array,"isUint8Array")},Ye={inspect:u,format:U,types:Rr,TextEncoder:H,TextDecoder:J,isDeepStrictEqual:i(
(t,e)=>j(t,e,!0),"isDeepStrictEqual"),promisify(t){return i(function(...r){return new Promise((n,o)=>{let s=i((c,f)=>c?o(
c):n(f),"done");t.call(this,...r,s)})},"promised")},callbackify(t){return i(function(...r){let n=r.pop();t.apply(this,r).
then(o=>n(null,o),n)},"callingBack")},inherits(t,e){Object.setPrototypeOf(t.prototype,e.prototype),Object.setPrototypeOf(
t,e)},deprecate:i(t=>t,"deprecate"),stripVTControlCharacters:i(t=>t.replace(/\\u001b\\[[0-9;]*[A-Za-z]/g,""),"stripVTContr\\
olCharacters"),styleText:i((t,e)=>e,"styleText")};var K=new Map(Object.entries({buffer:ne,console:ht,events:k,path:h,"path/posix":h,fs:W,"fs/promises":pt,process:w,util:Ye,
timers:At,"timers/promises":Rt,perf_hooks:{performance:C},os:Be,url:be,crypto:Wt,module:{createRequire:Mr,builtinModules:[]},
assert:yt,"assert/strict":et,test:Ke}));Object.assign(K.get("module")??{},{builtinModules:[...K.keys()]});var nt=Object.
create(null),Xe;function Mr(t){return Ot(h.dirname(typeof t=="string"&&t.startsWith("/")?t:v(t)))}i(Mr,"createRequire");
function Ot(t){let e=i(n=>m("resolve",[String(n),t,"require"]),"resolve");return Object.assign(i(n=>Kt(e(n)),"require"),
{resolve(n){let o=e(n);return o.builtin?n:o.path},cache:nt,main:Xe})}i(Ot,"requireFrom");function Kt(t){return t.builtin===
void 0?Yt(t):K.get(t.builtin)}i(Kt,"loadAny");function Yt({path:t,format:e}){if(t in nt)return nt[t].exports;if(e==="mod\\
ule"){let n=\`require() of ES Module \${t} is not supported; use import\`;throw y(Error,"ERR_REQUIRE_ESM",n)}let r={id:t,filename:t,
path:h.dirname(t),exports:{},loaded:!1,children:[],paths:[]};nt[t]=r,Xe??=r;try{Dr(r,a.from(m("read",[t])).toString().replace(
/^\\uFEFF/,""),e),r.loaded=!0}catch(n){throw delete nt[t],n}return r.exports}i(Yt,"loadFile");function Dr(t,e,r){let{filename:n}=t;
if(r==="json"){try{t.exports=JSON.parse(e)}catch(c){throw new SyntaxError(\`\${n}: \${c.message}\`)}return}let o=Ot(t.path);
t.require=o,te(e.replace(/^#!/,"//"),n).call(t.exports,t.exports,o,t,n,t.path)}i(Dr,"evaluate");Object.assign(w,{chdir:Se});var qr={exportNames:i(()=>[...K].map(([t,e])=>[t,Object.keys(e)]),"exportNames"),builtin:i(t=>K.
get(t),"builtin"),requireFrom:Ot,load:Yt,imported:Kt,describe:i(t=>u(t),"describe"),startTests:Je,wait:jt,fire:Nt},{setTimeout:Lr,
setInterval:Pr,setImmediate:_r,clearTimeout:Br,clearInterval:Ur,clearImmediate:Fr,queueMicrotask:Cr}=Mt;Object.assign(globalThis,
{__ward:qr,global:globalThis,process:w,console:ht,Buffer:a,TextEncoder:H,TextDecoder:J,URL:Q,performance:C,atob:ae,btoa:le,
structuredClone:pe,setTimeout:Lr,setInterval:Pr,setImmediate:_r,clearTimeout:Br,clearInterval:Ur,clearImmediate:Fr,queueMicrotask:Cr});})();
`
