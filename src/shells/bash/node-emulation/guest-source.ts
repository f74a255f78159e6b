/** The bundle of `guest/*.js`, written by `npm run build:guest`. */
export const guestSource: string = `"use strict";(()=>{var __defProp=Object.defineProperty;var __name=(target,value)=>__defProp(target,"name",{value,configurable:true});var __export=(target,all)=>{for(var name in all)__defProp(target,name,{get:all[name],enumerable:true})};var host={...globalThis};var facts=JSON.parse(host.__facts);function codedError(Kind,code,message){return Object.assign(
new Kind(message),{code})}__name(codedError,"codedError");function systemError({message,code,syscall,path:path2}){const error2=new Error(
message);if(code)Object.assign(error2,{code,errno:-1});if(syscall)Object.assign(error2,{syscall});if(path2)Object.assign(
error2,{path:path2});return error2}__name(systemError,"systemError");function callHost(operation,args){const answer=host.
__host(operation,JSON.stringify(args));if(typeof answer!=="string")return answer;const{value,error:error2}=JSON.parse(answer);
if(error2)throw systemError(error2);return value}__name(callHost,"callHost");function writeFile(path2,bytes,isAppended){
const{error:error2}=JSON.parse(host.__write(path2,bytes,isAppended));if(error2)throw systemError(error2)}__name(writeFile,
"writeFile");function writeOutput(fd,text){host.__out(fd,toHostText(text))}__name(writeOutput,"writeOutput");function encode(text,encoding){
return host.__encode(toHostText(text),encoding)}__name(encode,"encode");function decode(bytes,encoding){return fromHostText(
host.__decode(bytes,encoding))}__name(decode,"decode");var{__sha256:sha256,__exit:requestExit,__tests:reportTests,__compile:compile}=host;
function toHostText(text){if(!text.includes("\\0"))return text;const units=new Uint16Array(text.length);for(let i=0;i<text.
length;i++)units[i]=text.charCodeAt(i);return units.buffer}__name(toHostText,"toHostText");function fromHostText(received){
if(typeof received==="string")return received;const units=new Uint16Array(received);let text="";for(let i=0;i<units.length;i+=
8192)text+=String.fromCharCode(...units.subarray(i,i+8192));return text}__name(fromHostText,"fromHostText");var aliases=new Map([["utf-8","utf8"],["binary","latin1"],["ucs2","utf16le"],["ucs-2","utf16le"],["utf-16le","utf16le"]]);
var encodings=new Set(["utf8","latin1","ascii","hex","base64","base64url","utf16le"]);function encodingOf(name){const lower=String(
name??"utf8").toLowerCase();const encoding=aliases.get(lower)??lower;if(!encodings.has(encoding))throw codedError(TypeError,
"ERR_UNKNOWN_ENCODING",\`Unknown encoding: \${name}\`);return encoding}__name(encodingOf,"encodingOf");function bytesOf(view){
return view.buffer.slice(view.byteOffset,view.byteOffset+view.byteLength)}__name(bytesOf,"bytesOf");var Buffer2=class _Buffer extends Uint8Array{static{
__name(this,"Buffer")}static from(value,encodingOrOffset,length){if(typeof value==="string")return new _Buffer(encode(value,
encodingOf(encodingOrOffset)));if(value instanceof ArrayBuffer){const offset=Number(encodingOrOffset||0);return new _Buffer(
value,offset,length??value.byteLength-offset)}let list=value;if(list&&list.type==="Buffer"&&Array.isArray(list.data))list=
list.data;const copy=new _Buffer(list.length);for(let i=0;i<list.length;i++)copy[i]=list[i];return copy}static alloc(size,fill2,encoding){
const buffer=new _Buffer(size);if(fill2!==void 0&&fill2!==0)buffer.fill(fill2,0,size,encoding);return buffer}static allocUnsafe(size){
return new _Buffer(size)}static isBuffer(value){return value instanceof _Buffer}static isEncoding(name){try{encodingOf(name);
return true}catch{return false}}static byteLength(value,encoding){return typeof value==="string"?encode(value,encodingOf(
encoding)).byteLength:value.byteLength}static concat(list,total=list.reduce((sum,part)=>sum+part.length,0)){const whole=new _Buffer(
total);let offset=0;for(const part of list){whole.set(part.subarray(0,Math.max(0,total-offset)),offset);offset+=part.length;
if(offset>=total)break}return whole}static compare(a,b){const shorter=Math.min(a.length,b.length);for(let i=0;i<shorter;i++)
if(a[i]!==b[i])return a[i]<b[i]?-1:1;return Math.sign(a.length-b.length)}toString(encoding,start2=0,end=this.length){return decode(
bytesOf(this.subarray(start2,end)),encodingOf(encoding))}toJSON(){return{type:"Buffer",data:Array.from(this)}}equals(other){
return _Buffer.compare(this,other)===0}compare(other){return _Buffer.compare(this,other)}write(text,offset,length,encoding){
if(typeof offset==="string")return this.write(text,0,void 0,offset);if(typeof length==="string")return this.write(text,offset,
void 0,length);const start2=offset||0;const bytes=_Buffer.from(text,encoding);const count=Math.min(bytes.length,this.length-
start2,length??Number.POSITIVE_INFINITY);this.set(bytes.subarray(0,count),start2);return count}copy(target,targetStart=0,start2=0,end=this.
length){const part=this.subarray(start2,end).subarray(0,target.length-targetStart);target.set(part,targetStart);return part.
length}slice(start2,end){return this.subarray(start2,end)}fill(value,start2,end,encoding){if(typeof value!=="string")return super.
fill(value,start2,end);const bytes=_Buffer.from(value,encoding);if(bytes.length===0)return super.fill(0,start2,end);const from=start2||
0;for(let i=from;i<(end??this.length);i++)this[i]=bytes[(i-from)%bytes.length];return this}indexOf(value,from,encoding){
if(typeof value==="number")return super.indexOf(value,from);const bytes=typeof value==="string"?_Buffer.from(value,encoding):
value;for(let start2=from||0;start2+bytes.length<=this.length;start2++){if(bytes.every((byte,i)=>this[start2+i]===byte))
return start2}return-1}includes(value,from,encoding){return this.indexOf(value,from,encoding)!==-1}};var numberTypes=[["\\
UInt8",1,(view,at)=>view.getUint8(at),(view,at,value)=>view.setUint8(at,value)],["Int8",1,(view,at)=>view.getInt8(at),(view,at,value)=>view.
setInt8(at,value)],["UInt16",2,(view,at,le)=>view.getUint16(at,le),(view,at,value,le)=>view.setUint16(at,value,le)],["In\\
t16",2,(view,at,le)=>view.getInt16(at,le),(view,at,value,le)=>view.setInt16(at,value,le)],["UInt32",4,(view,at,le)=>view.
getUint32(at,le),(view,at,value,le)=>view.setUint32(at,value,le)],["Int32",4,(view,at,le)=>view.getInt32(at,le),(view,at,value,le)=>view.
setInt32(at,value,le)],["Float",4,(view,at,le)=>view.getFloat32(at,le),(view,at,value,le)=>view.setFloat32(at,value,le)],
["Double",8,(view,at,le)=>view.getFloat64(at,le),(view,at,value,le)=>view.setFloat64(at,value,le)],["BigInt64",8,(view,at,le)=>view.
getBigInt64(at,le),(view,at,value,le)=>view.setBigInt64(at,value,le)],["BigUInt64",8,(view,at,le)=>view.getBigUint64(at,
le),(view,at,value,le)=>view.setBigUint64(at,value,le)]];var viewOf=__name(({buffer,byteOffset,byteLength})=>new DataView(
buffer,byteOffset,byteLength),"viewOf");for(const[name,size,read,write]of numberTypes){for(const order of size===1?[""]:
["LE","BE"]){const isLittle=order==="LE";Object.assign(Buffer2.prototype,{[\`read\${name}\${order}\`](offset=0){return read(
viewOf(this),offset,isLittle)},[\`write\${name}\${order}\`](value,offset=0){write(viewOf(this),offset,value,isLittle);return offset+
size}})}}var bufferModule={Buffer:Buffer2,constants:{MAX_LENGTH:2147483647}};var custom=Symbol.for("nodejs.util.inspect.custom");function inspect(value,options,legacyDepth){const settings=typeof options===
"object"&&options!==null?options:{depth:legacyDepth};const{depth=2,breakLength=72}=settings;const maxDepth=depth===null?
Number.POSITIVE_INFINITY:depth;return show({options:settings,maxDepth,width:breakLength,ancestors:[]},value,0,"")}__name(
inspect,"inspect");inspect.custom=custom;function show(state,value,depth,indent2){if(value===null||typeof value!=="objec\\
t"&&typeof value!=="function")return showPrimitive(value);if(state.ancestors.includes(value))return"[Circular *1]";const toText=value[custom];
if(typeof toText==="function"&&toText!==inspect){const replacement=toText.call(value,state.maxDepth-depth,state.options,
inspect);return typeof replacement==="string"?replacement:show(state,replacement,depth,indent2)}if(value instanceof Number||
value instanceof String||value instanceof Boolean){return\`[\${constructorName(value)}: \${showPrimitive(value.valueOf())}]\`}
const{prefix,isList=false,keys,text}=shapeOf(value);if(text!==void 0)return text;if(depth>state.maxDepth)return isList?"\\
[Array]":\`[\${prefix.replace(/\\(\\d+\\) $/,"").trim()||"Object"}]\`;state.ancestors.push(value);const items=itemsOf(state,value,
isList,keys,depth+1,\`\${indent2}  \`);state.ancestors.pop();return layOut(items,prefix,isList,indent2,state.width)}__name(
show,"show");function showPrimitive(value){if(typeof value==="string")return quote(value);if(typeof value==="bigint")return\`\${value}\\
n\`;return Object.is(value,-0)?"-0":String(value)}__name(showPrimitive,"showPrimitive");function quote(text){const mark=text.
includes("'")&&!text.includes('"')?'"':"'";const plain=JSON.stringify(text).slice(1,-1).replace(/\\\\"/g,'"');return mark+
(mark==="'"?plain.replace(/'/g,"\\\\'"):plain)+mark}__name(quote,"quote");function showKey(key){if(typeof key==="symbol")return\`\\
[\${String(key)}]\`;const name=String(key);return/^[A-Za-z_$][\\w$]*$/.test(name)?name:quote(name)}__name(showKey,"showKey");
function constructorName(value){for(let proto=Object.getPrototypeOf(value);proto;proto=Object.getPrototypeOf(proto)){if(Object.
hasOwn(proto,"constructor")&&typeof proto.constructor==="function")return proto.constructor.name}return null}__name(constructorName,
"constructorName");function enumerableSymbols(value){return Object.getOwnPropertySymbols(value).filter(key=>Object.prototype.
propertyIsEnumerable.call(value,key))}__name(enumerableSymbols,"enumerableSymbols");function shapeOf(value){const keys=[
...Object.keys(value),...enumerableSymbols(value)];const name=constructorName(value);if(Array.isArray(value))return{prefix:name===
"Array"?"":\`\${name}(\${value.length}) \`,isList:true,keys};if(value instanceof Error)return errorShape(value,keys);if(typeof value===
"function")return labelled(functionLabel(value,name),keys);if(value instanceof RegExp)return labelled(String(value),keys);
if(value instanceof Date){return labelled(Number.isNaN(value.getTime())?"Invalid Date":value.toISOString(),keys)}if(value instanceof
Map)return{prefix:\`Map(\${value.size}) \`,keys};if(value instanceof Set)return{prefix:\`Set(\${value.size}) \`,keys};if(value instanceof
Promise)return{prefix:"",keys,text:"Promise { <pending> }"};if(value instanceof Buffer2)return{prefix:"",keys,text:bufferText(
value)};if(ArrayBuffer.isView(value)&&!(value instanceof DataView)){return{prefix:\`\${name}(\${value.length}) \`,isList:true,
keys}}if(name===null)return{prefix:"[Object: null prototype] ",keys};return{prefix:name==="Object"?"":\`\${name} \`,keys}}__name(
shapeOf,"shapeOf");function labelled(label,keys){return keys.length===0?{prefix:"",keys,text:label}:{prefix:\`\${label} \`,
keys}}__name(labelled,"labelled");function errorShape(error2,keys){const frames=String(error2.stack??"").split("\\n").filter(
line=>line!==""&&!/\\((<\\w+>[:)]|native\\))|at <eval> \\(\\S*<main>/.test(line)).join("\\n");const title=(error2.name||"Error")+
(error2.message?\`: \${error2.message}\`:"");const shown=keys.filter(key=>key!=="stack"&&key!=="message");if(error2.cause!==
void 0&&!shown.includes("cause"))shown.push("cause");return labelled(frames?\`\${title}
\${frames}\`:\`[\${title}]\`,shown)}__name(errorShape,"errorShape");function functionLabel(value,kind){if(/^class\\b/.test(Function.
prototype.toString.call(value)))return\`[class \${value.name||"(anonymous)"}]\`;const name=value.name?\`: \${value.name}\`:" (\\
anonymous)";return\`[\${kind==="AsyncFunction"?"AsyncFunction":"Function"}\${name}]\`}__name(functionLabel,"functionLabel");
function bufferText(buffer){const bytes=Array.from(buffer.subarray(0,50),byte=>\` \${byte.toString(16).padStart(2,"0")}\`);
const more=buffer.length>50?\` ... \${buffer.length-50} more bytes\`:"";return\`<Buffer\${bytes.join("")}\${more}>\`}__name(bufferText,
"bufferText");function itemsOf(state,value,isList,keys,depth,indent2){const items=[];if(isList)items.push(...listItems(state,
value,depth,indent2));else if(value instanceof Map){for(const[key,inner]of value){items.push(\`\${show(state,key,depth,indent2)}\\
 => \${show(state,inner,depth,indent2)}\`)}}else if(value instanceof Set){for(const inner of value)items.push(show(state,inner,
depth,indent2))}for(const key of keys){if(isList&&typeof key!=="symbol"&&/^\\d+$/.test(String(key)))continue;const property=Object.
getOwnPropertyDescriptor(value,key);const text=property?.get?property.set?"[Getter/Setter]":"[Getter]":property?.set?"[S\\
etter]":show(state,value[key],depth,indent2);items.push(\`\${showKey(key)}: \${text}\`)}return items}__name(itemsOf,"itemsOf");
function listItems(state,list,depth,indent2){const items=[];for(let i=0;i<list.length&&i<100;i++){if(i in list){items.push(
show(state,list[i],depth,indent2));continue}let holes=1;while(i+1<list.length&&!(i+1 in list)){i++;holes++}items.push(\`<\${holes}\\
 empty item\${holes>1?"s":""}>\`)}if(list.length>100)items.push(\`... \${list.length-100} more item\${list.length>101?"s":""}\`);
return items}__name(listItems,"listItems");function layOut(items,prefix,isList,indent2,width){const[open,close]=isList?[
"[","]"]:["{","}"];if(items.length===0)return prefix+open+close;const length=items.reduce((sum,item)=>sum+item.length+2,
0);const isLong=isList&&items.length>6;if(!isLong&&length+prefix.length<=width&&items.every(item=>!item.includes("\\n"))){
return\`\${prefix}\${open} \${items.join(", ")} \${close}\`}const isNarrow=isLong&&items.every(item=>item.length<=6);const lines=isNarrow?
columns(items):items.map((item,i)=>i<items.length-1?\`\${item},\`:item);return\`\${prefix}\${open}
\${indent2}  \${lines.join(\`
\${indent2}  \`)}
\${indent2}\${close}\`}__name(layOut,"layOut");function columns(items){const rows=[];const size=Math.max(...items.map(item=>item.
length))+2;const perRow=Math.max(1,Math.min(16,Math.floor(Math.sqrt(2.5*size*items.length)/size)));const areNumbers=items.
every(item=>/^-?[\\d.]+n?$/.test(item));for(let start2=0;start2<items.length;start2+=perRow){const cells=items.slice(start2,
start2+perRow).map((item,i,row)=>{const cell=item+(start2+i<items.length-1?",":"");if(areNumbers)return cell.padStart(size-
1);return i===row.length-1?cell:cell.padEnd(size-1)});rows.push(cells.join(" ").replace(/ +$/,""))}return rows}__name(columns,
"columns");function format(...args){if(args.length===0)return"";const[first,...values]=args;const text=typeof first==="s\\
tring"?fill(first,values):inspect(first);return[text,...values.map(value=>typeof value==="string"?value:inspect(value))].
join(" ")}__name(format,"format");function fill(text,values){return text.replace(/%[sdifjoOc%]/g,placeholder=>{if(placeholder===
"%%")return"%";if(values.length===0)return placeholder;const value=values.shift();switch(placeholder){case"%s":if(typeof value===
"object"&&value!==null)return inspect(value,{depth:0});return Object.is(value,-0)?"-0":String(value)+(typeof value==="bi\\
gint"?"n":"");case"%d":return typeof value==="object"?"NaN":String(Number(value));case"%i":return String(Number.parseInt(
String(value),10));case"%f":return String(Number.parseFloat(String(value)));case"%j":return JSON.stringify(value);case"%\\
c":return"";default:return inspect(value)}})}__name(fill,"fill");var tables=new WeakMap;function registrations(emitter,name){const table=tables.get(emitter)??new Map;tables.set(emitter,
table);const list=table.get(name)??[];table.set(name,list);return list}__name(registrations,"registrations");var EventEmitter=class _EventEmitter{static{
__name(this,"EventEmitter")}on(name,run){registrations(this,name).push({run,isOnce:false});return this}addListener(name,run){
return this.on(name,run)}prependListener(name,run){registrations(this,name).unshift({run,isOnce:false});return this}once(name,run){
registrations(this,name).push({run,isOnce:true});return this}off(name,run){const list=registrations(this,name);const index=list.
findLastIndex(registration=>registration.run===run);if(index!==-1)list.splice(index,1);return this}removeListener(name,run){
return this.off(name,run)}removeAllListeners(name){if(name===void 0)tables.delete(this);else registrations(this,name).length=
0;return this}emit(name,...args){const list=[...registrations(this,name)];if(list.length===0){if(name!=="error")return false;
throw args[0]instanceof Error?args[0]:new Error(\`Unhandled error. (\${inspect(args[0])})\`)}for(const{run,isOnce}of list){
if(isOnce)this.off(name,run);run.apply(this,args)}return true}listenerCount(name){return registrations(this,name).length}listeners(name){
return registrations(this,name).map(({run})=>run)}eventNames(){return[...tables.get(this)??[]].filter(([,list])=>list.length>
0).map(([name])=>name)}setMaxListeners(){return this}getMaxListeners(){return 10}static EventEmitter=_EventEmitter;static once=__name(
(emitter,name)=>new Promise((resolve,reject)=>{emitter.once(name,(...args)=>resolve(args));if(name!=="error")emitter.once(
"error",reject)}),"once")};var timers_exports={};__export(timers_exports,{clearImmediate:()=>clear,clearInterval:()=>clear,clearTimeout:()=>clear,queueMicrotask:()=>queueMicrotask,
runDueTimer:()=>runDueTimer,setImmediate:()=>setImmediate,setInterval:()=>setInterval,setTimeout:()=>setTimeout,timeToNextTimer:()=>timeToNextTimer,
timersModule:()=>timersModule,timersPromises:()=>timersPromises});var timers=[];var nextId=1;var Timeout=class{static{__name(this,"Timeout")}constructor(id){this.id=id}ref(){return this}unref(){
for(const timer of timers)if(timer.id===this.id)timer.isWeak=true;return this}hasRef(){return true}[Symbol.toPrimitive](){
return this.id}};function start(run,delay,args,isRepeated){if(typeof run!=="function"){const message=\`The "callback" arg\\
ument must be of type function. Received \${inspect(run)}\`;throw codedError(TypeError,"ERR_INVALID_ARG_TYPE",message)}const ms=delay>=
1&&delay<=2147483647?Math.floor(delay):1;const timer={id:nextId++,dueAt:Date.now()+ms,run,args,interval:isRepeated?ms:0,
isWeak:false};timers.push(timer);return timer}__name(start,"start");function setTimeout(run,ms,...args){return new Timeout(
start(run,ms,args,false).id)}__name(setTimeout,"setTimeout");function setInterval(run,ms,...args){return new Timeout(start(
run,ms,args,true).id)}__name(setInterval,"setInterval");function setImmediate(run,...args){const timer=start(run,1,args,
false);timer.dueAt=0;return new Timeout(timer.id)}__name(setImmediate,"setImmediate");function clear(timeout){if(timeout===
void 0||timeout===null)return;const id=typeof timeout==="object"?timeout.id:Number(timeout);timers=timers.filter(timer=>timer.
id!==id)}__name(clear,"clear");function queueMicrotask(run){Promise.resolve().then(run)}__name(queueMicrotask,"queueMicrotask");function timeToNextTimer(){
if(timers.every(timer=>timer.isWeak))return-1;return Math.max(0,Math.min(...timers.map(({dueAt})=>dueAt))-Date.now())}__name(
timeToNextTimer,"timeToNextTimer");function runDueTimer(){const now=Date.now();const[due]=timers.filter(({dueAt})=>dueAt<=
now).sort((a,b)=>a.dueAt-b.dueAt||a.id-b.id);if(due===void 0)return;if(due.interval>0)due.dueAt=now+due.interval;else clear(
due.id);due.run(...due.args)}__name(runDueTimer,"runDueTimer");var timersModule={setTimeout,setInterval,setImmediate,clearTimeout:clear,
clearInterval:clear,clearImmediate:clear};var timersPromises={setTimeout:__name((ms,value)=>new Promise(resolve=>setTimeout(
resolve,ms,value)),"setTimeout"),setImmediate:__name(value=>new Promise(resolve=>setImmediate(resolve,value)),"setImmedi\\
ate")};var startTime=Date.now();var performance={now:__name(()=>Date.now()-startTime,"now"),timeOrigin:startTime,mark(){},measure(){}};
function atob(text){return Buffer2.from(String(text),"base64").toString("latin1")}__name(atob,"atob");function btoa(text){
return Buffer2.from(String(text),"latin1").toString("base64")}__name(btoa,"btoa");function structuredClone(value){return clone(
value,new Map)}__name(structuredClone,"structuredClone");function clone(value,copies){if(typeof value==="function"||typeof value===
"symbol"){throw new Error(\`\${inspect(value)} could not be cloned.\`)}if(typeof value!=="object"||value===null)return value;
const copied=copies.get(value);if(copied!==void 0)return copied;if(value instanceof Date)return new Date(value);if(value instanceof
RegExp)return new RegExp(value.source,value.flags);if(value instanceof ArrayBuffer)return value.slice(0);if(ArrayBuffer.
isView(value)){const View=value.constructor;return new View(bytesOf(value))}if(value instanceof Error){const Kind=value.
constructor;return Object.assign(new Kind(value.message),{stack:value.stack})}return cloneContainer(value,copies)}__name(
clone,"clone");function cloneContainer(value,copies){if(value instanceof Map){const copy2=new Map;copies.set(value,copy2);
for(const[key,inner]of value)copy2.set(clone(key,copies),clone(inner,copies));return copy2}if(value instanceof Set){const copy2=new Set;
copies.set(value,copy2);for(const inner of value)copy2.add(clone(inner,copies));return copy2}if(Array.isArray(value)){const copy2=[];
copies.set(value,copy2);value.forEach((inner,i)=>{copy2[i]=clone(inner,copies)});return copy2}const copy={};copies.set(value,
copy);for(const[key,inner]of Object.entries(value))Object.assign(copy,{[key]:clone(inner,copies)});return copy}__name(cloneContainer,
"cloneContainer");function outputStream(fd){function write(data,encoding,done){writeOutput(fd,typeof data==="string"?data:Buffer2.from(data).
toString());const callback=typeof encoding==="function"?encoding:done;if(typeof callback==="function")setImmediate(callback);
return true}__name(write,"write");const stream=Object.assign(new EventEmitter,{fd,isTTY:false,writable:true,columns:80,write,
end(data){if(data!==void 0)stream.write(data)}});return stream}__name(outputStream,"outputStream");var InputStream=class extends EventEmitter{static{
__name(this,"InputStream")}fd=0;isTTY=false;#isText=false;#isStarted=false;setEncoding=__name(()=>{this.#isText=true;return this},
"setEncoding");resume=__name(()=>this,"resume");pause=__name(()=>this,"pause");on=__name((name,run)=>{super.on(name,run);
if(!this.#isStarted&&(name==="data"||name==="end"||name==="readable")){this.#isStarted=true;setImmediate(()=>{if(facts.stdin!==
"")this.emit("data",this.#content());this.emit("end");this.emit("close")})}return this},"on");async*[Symbol.asyncIterator](){
if(facts.stdin!=="")yield this.#content()}#content(){const bytes=Buffer2.from(facts.stdin,"latin1");return this.#isText?
bytes.toString():bytes}};function hrtime(since){const ms=Date.now();const seconds=Math.floor(ms/1e3);const nanoseconds=ms%
1e3*1e6;if(!since)return[seconds,nanoseconds];const borrow=nanoseconds<since[1]?1:0;return[seconds-since[0]-borrow,(nanoseconds-
since[1]+1e9)%1e9]}__name(hrtime,"hrtime");hrtime.bigint=()=>BigInt(Date.now())*1000000n;var workingDirectory=facts.cwd;
var isExiting=false;function setWorkingDirectory(directory){workingDirectory=directory}__name(setWorkingDirectory,"setWo\\
rkingDirectory");var process=Object.assign(new EventEmitter,{argv:facts.argv,argv0:"node",execArgv:[],execPath:"/usr/bin\\
/node",title:"node",pid:1,ppid:0,arch:"x64",platform:"linux",version:"v20.19.0",versions:{node:"20.19.0"},release:{name:"\\
node"},env:facts.env,exitCode:void 0,stdin:new InputStream,stdout:outputStream(1),stderr:outputStream(2),cwd:__name(()=>workingDirectory,
"cwd"),exit(code){if(code!==void 0)process.exitCode=code;if(!isExiting){isExiting=true;process.emit("exit",process.exitCode||
0)}return exitNow(Number(process.exitCode||0))},abort:__name(()=>exitNow(134),"abort"),nextTick(run,...args){Promise.resolve().
then(()=>run(...args))},hrtime,uptime:__name(()=>performance.now()/1e3,"uptime"),memoryUsage:__name(()=>({rss:0,heapTotal:0,
heapUsed:0,external:0,arrayBuffers:0}),"memoryUsage"),umask:__name(()=>18,"umask"),getuid:__name(()=>1e3,"getuid"),getgid:__name(
()=>1e3,"getgid"),emitWarning(warning){const{name,message}=typeof warning==="string"?{name:void 0,message:warning}:warning;
process.stderr.write(\`(node) \${name||"Warning"}: \${message||warning}
\`)}});function exitNow(code){requestExit(code);for(;;);}__name(exitNow,"exitNow");function requireString(path2){if(typeof path2==="string")return;const message=\`The "path" argument must be of type strin\\
g. Received \${inspect(path2)}\`;throw codedError(TypeError,"ERR_INVALID_ARG_TYPE",message)}__name(requireString,"requireS\\
tring");function normalizeSegments(path2){if(path2==="")return".";const isAbsolute=path2.startsWith("/");const isDirectory=path2.
endsWith("/");const segments=[];for(const segment of path2.split("/")){if(segment===""||segment===".")continue;if(segment===
".."&&segments.length>0&&segments.at(-1)!=="..")segments.pop();else if(segment!==".."||!isAbsolute)segments.push(segment)}
const text=segments.join("/");if(text===""&&!isAbsolute)return isDirectory?"./":".";return(isAbsolute?"/":"")+text+(isDirectory&&
text!==""?"/":"")}__name(normalizeSegments,"normalizeSegments");var path={sep:"/",delimiter:":",normalize(path2){requireString(
path2);return normalizeSegments(path2)},isAbsolute(path2){requireString(path2);return path2.startsWith("/")},join(...parts){
parts.forEach(requireString);const text=parts.filter(part=>part!=="").join("/");return text===""?".":normalizeSegments(text)},
resolve(...parts){let whole="";for(let i=parts.length-1;i>=0&&!whole.startsWith("/");i--){requireString(parts[i]);if(parts[i]!==
"")whole=parts[i]+(whole===""?"":\`/\${whole}\`)}if(!whole.startsWith("/"))whole=process.cwd()+(whole===""?"":\`/\${whole}\`);
whole=normalizeSegments(whole);return whole.length>1&&whole.endsWith("/")?whole.slice(0,-1):whole},relative(from,to){const a=path.
resolve(from).split("/").filter(Boolean);const b=path.resolve(to).split("/").filter(Boolean);let common=0;while(common<a.
length&&common<b.length&&a[common]===b[common])common++;return[...a.slice(common).map(()=>".."),...b.slice(common)].join(
"/")},dirname(path2){requireString(path2);const text=path2.replace(/\\/+$/,"");const slash=text.lastIndexOf("/");if(text===
"")return path2.startsWith("/")?"/":".";return slash===-1?".":text.slice(0,slash).replace(/\\/+$/,"")||"/"},basename(path2,suffix){
requireString(path2);const name=path2.replace(/\\/+$/,"").split("/").pop();return suffix&&name!==suffix&&name.endsWith(suffix)?
name.slice(0,-suffix.length):name},extname(name){requireString(name);const base=path.basename(name);const dot=base.lastIndexOf(
".");return dot<=0?"":base.slice(dot)},parse(name){const base=path.basename(name);const ext=path.extname(name);return{root:name.
startsWith("/")?"/":"",dir:name.includes("/")?path.dirname(name):"",base,ext,name:ext?base.slice(0,-ext.length):base}},format(parts){
const base=parts.base||(parts.name||"")+(parts.ext||"");const dir=parts.dir||parts.root;if(!dir)return base;return dir===
parts.root?dir+base:\`\${dir}/\${base}\`},toNamespacedPath:__name(path2=>path2,"toNamespacedPath")};Object.assign(path,{posix:path});var filePattern=/^file:\\/\\/\\//;var FileUrl=class{static{__name(this,"FileUrl")}constructor(path2){this.protocol="file:";
this.pathname=path2.split("/").map(encodeURIComponent).join("/");this.href=\`file://\${this.pathname}\`}toString(){return this.
href}toJSON(){return this.href}};var URL=class extends FileUrl{static{__name(this,"URL")}constructor(url,base){super(filePath(
String(url),base===void 0?void 0:String(base)))}};function filePath(url,base){if(filePattern.test(url))return decodeURIComponent(
url.slice(7));if(base===void 0||!filePattern.test(base)||/^[a-z][a-z0-9+.-]*:/i.test(url)){throw codedError(TypeError,"E\\
RR_INVALID_URL",\`Only file URLs are available in this shell: \${url}\`)}const from=decodeURIComponent(base.slice(7));return path.
normalize(url.startsWith("/")?url:from.slice(0,from.lastIndexOf("/")+1)+url)}__name(filePath,"filePath");function fileURLToPath(url){
const text=typeof url==="string"?url:url.href;if(!filePattern.test(text)){throw codedError(TypeError,"ERR_INVALID_URL_SC\\
HEME","The URL must be of scheme file")}return decodeURIComponent(text.slice(7).replace(/[?#].*$/,""))}__name(fileURLToPath,
"fileURLToPath");var urlModule={fileURLToPath,pathToFileURL:__name(file=>new FileUrl(path.resolve(file)),"pathToFileURL"),
URL};var Entry=class{static{__name(this,"Entry")}#type;constructor(type){this.#type=type}isFile(){return this.#type==="file"}isDirectory(){
return this.#type==="directory"}isSymbolicLink(){return this.#type==="link"}};var Stats=class extends Entry{static{__name(
this,"Stats")}constructor({type,size,mode,mtimeMs}){super(type);const mtime=new Date(mtimeMs);this.size=size;this.mode=mode;
this.mtimeMs=mtimeMs;this.mtime=mtime;this.atimeMs=this.ctimeMs=this.birthtimeMs=mtimeMs;this.atime=this.ctime=this.birthtime=
mtime;this.dev=0;this.ino=0;this.nlink=1;this.uid=0;this.gid=0}isFIFO(){return false}isSocket(){return false}isBlockDevice(){
return false}isCharacterDevice(){return false}};var Dirent=class extends Entry{static{__name(this,"Dirent")}constructor(name,type,parent){
super(type);this.name=name;this.parentPath=parent;this.path=parent}};function wrongArgument(name,type,value){const message=\`\\
The "\${name}" argument must be of type \${type}. Received \${inspect(value)}\`;return codedError(TypeError,"ERR_INVALID_ARG\\
_TYPE",message)}__name(wrongArgument,"wrongArgument");function absolutePath(path2){let text=path2;if(path2&&typeof path2===
"object"&&"href"in path2&&typeof path2.href==="string"){text=fileURLToPath(path2.href)}else if(path2 instanceof Uint8Array)
text=Buffer2.from(path2).toString();if(typeof text!=="string")throw wrongArgument("path","string or an instance of Buffe\\
r or URL",path2);return path.resolve(text)}__name(absolutePath,"absolutePath");var encodingOf2=__name(options=>typeof options===
"string"?options:options?.encoding,"encodingOf");function bytesToWrite(data,encoding){if(typeof data==="string")return bytesOf(
Buffer2.from(data,encoding));if(ArrayBuffer.isView(data))return bytesOf(data);throw wrongArgument("data","string or an i\\
nstance of Buffer, TypedArray, or DataView",data)}__name(bytesToWrite,"bytesToWrite");function statBy(operation){return(path2,options)=>{
try{return new Stats(callHost(operation,[absolutePath(path2)]))}catch(error2){const{code}=error2;if(options?.throwIfNoEntry===
false&&code==="ENOENT")return void 0;throw error2}}}__name(statBy,"statBy");function entriesOf(directory,prefix,options){
return callHost("readdir",[directory]).flatMap(({name,type})=>{const entry=options.withFileTypes?new Dirent(name,type,directory):
prefix+name;if(!options.recursive||type!=="directory")return[entry];return[entry,...entriesOf(\`\${directory}/\${name}\`,\`\${prefix}\${name}\\
/\`,options)]})}__name(entriesOf,"entriesOf");var operations={readFile(path2,options){const isInput=path2===0||path2==="/\\
dev/stdin";const bytes=isInput?Buffer2.from(facts.stdin,"latin1"):Buffer2.from(callHost("read",[absolutePath(path2)]));const encoding=encodingOf2(
options);return encoding&&encoding!=="buffer"?bytes.toString(encoding):bytes},writeFile(path2,data,options){if(path2===1||
path2===2){writeOutput(path2,typeof data==="string"?data:Buffer2.from(data).toString());return}const flag=typeof options===
"object"?options?.flag:void 0;if(flag?.includes("x")&&operations.exists(path2)){const message=\`EEXIST: file already exis\\
ts, open '\${path2}'\`;throw systemError({message,code:"EEXIST",syscall:"open",path:String(path2)})}writeFile(absolutePath(
path2),bytesToWrite(data,encodingOf2(options)),flag?.startsWith("a")===true)},appendFile(path2,data,options){writeFile(absolutePath(
path2),bytesToWrite(data,encodingOf2(options)),true)},exists(path2){try{callHost("stat",[absolutePath(path2)]);return true}catch{
return false}},access(path2){callHost("access",[absolutePath(path2)])},stat:statBy("stat"),lstat:statBy("lstat"),readdir(path2,options){
return entriesOf(absolutePath(path2),"",typeof options==="object"&&options!==null?options:{})},mkdir(path2,options){const isDeep=typeof options===
"object"&&options?.recursive===true;return callHost("mkdir",[absolutePath(path2),isDeep])||void 0},mkdtemp(prefix){for(;;){
const path2=prefix+Math.random().toString(36).slice(2,8).padEnd(6,"x");if(operations.exists(path2))continue;operations.mkdir(
path2,{recursive:true});return path2}},rm(path2,options){callHost("rm",[absolutePath(path2),Boolean(options?.recursive),
Boolean(options?.force)])},rmdir(path2,options){callHost("rmdir",[absolutePath(path2),Boolean(options?.recursive)])},unlink(path2){
callHost("unlink",[absolutePath(path2)])},rename(from,to){callHost("rename",[absolutePath(from),absolutePath(to)])},copyFile(from,to){
callHost("copy",[absolutePath(from),absolutePath(to),false])},cp(from,to,options){callHost("copy",[absolutePath(from),absolutePath(
to),Boolean(options?.recursive)])},symlink(target,path2){callHost("symlink",[target,absolutePath(path2)])},readlink:__name(
path2=>callHost("readlink",[absolutePath(path2)]),"readlink"),realpath:__name(path2=>callHost("realpath",[absolutePath(path2)]),
"realpath"),chmod(path2,mode){callHost("chmod",[absolutePath(path2),typeof mode==="string"?Number.parseInt(mode,8):mode])},
utimes(path2){callHost("stat",[absolutePath(path2)])},truncate(path2,length=0){const whole=Buffer2.alloc(length);whole.set(
Buffer2.from(operations.readFile(path2)).subarray(0,length));operations.writeFile(path2,whole)}};var missing=["createRea\\
dStream","createWriteStream","watch","watchFile","openSync","open","readSync","writeSync","closeSync","opendirSync"];var constants={
F_OK:0,R_OK:4,W_OK:2,X_OK:1,COPYFILE_EXCL:1};var promises={constants};var fs={constants,Stats,Dirent,promises,statSync:operations.
stat};for(const[name,operation]of Object.entries(operations)){const run=operation;Object.assign(fs,{[\`\${name}Sync\`]:run,
[name]:withCallback(name,run)});if(name!=="exists")promises[name]=async(...args)=>run(...args)}for(const name of missing){
Object.assign(fs,{[name](){throw codedError(Error,"ERR_NOT_AVAILABLE",\`fs.\${name} is not available in this shell\`)}})}function withCallback(name,run){
return(...args)=>{const done=args.pop();if(typeof done!=="function")throw wrongArgument("cb","function",done);let results;
try{const value=run(...args);results=name==="exists"?[value]:[null,value]}catch(error2){results=[error2]}setImmediate(()=>done(
...results))}}__name(withCallback,"withCallback");function chdir(directory){const target=path.resolve(directory);if(!fs.statSync(target)?.isDirectory()){throw systemError(
{code:"ENOTDIR",message:\`ENOTDIR: not a directory, chdir '\${directory}'\`})}setWorkingDirectory(target)}__name(chdir,"chd\\
ir");var indent="";var counts=new Map;var startTimes=new Map;function printTo(fd){return(...args)=>{const text=format(...args);
writeOutput(fd,\`\${indent?text.replace(/^/gm,indent):text}
\`)}}__name(printTo,"printTo");var log=printTo(1);var error=printTo(2);function group(...args){if(args.length>0)log(...args);
indent+="  "}__name(group,"group");var console={log,info:log,debug:log,error,warn:error,trace(...args){error(\`Trace: \${format(
...args)}
\${new Error().stack}\`)},dir(value,options){log(inspect(value,options))},table(value){log(value)},group,groupEnd(){indent=
indent.slice(2)},assert(condition,...args){if(!condition)error(\`Assertion failed\${args.length>0?\`: \${format(...args)}\`:""}\`)},
count(label="default"){const count=(counts.get(label)??0)+1;counts.set(label,count);log(\`\${label}: \${count}\`)},countReset(label="\\
default"){counts.set(label,0)},time(label="default"){startTimes.set(label,Date.now())},timeEnd(label="default"){log(\`\${label}\\
: \${Date.now()-(startTimes.get(label)??Number.NaN)}ms\`)},groupCollapsed:group};var isLooselyEqual=__name((a,b)=>a==b,"isLooselyEqual");function isDeepEqual(a,b,isStrict){return compare(a,b,{isStrict,ancestors:[]})}__name(isDeepEqual,"isDeepEqual");function isEqual(a,b){
return isLooselyEqual(a,b)||Number.isNaN(a)&&Number.isNaN(b)}__name(isEqual,"isEqual");function compare(a,b,comparison){
const{isStrict,ancestors}=comparison;if(isStrict?Object.is(a,b):isEqual(a,b))return true;if(typeof a!=="object"||typeof b!==
"object"||a===null||b===null)return false;if(isStrict&&Object.getPrototypeOf(a)!==Object.getPrototypeOf(b))return false;
if(Array.isArray(a)!==Array.isArray(b))return false;if(ancestors.some(([one,other])=>one===a&&other===b))return true;ancestors.
push([a,b]);try{return compareObjects(a,b,comparison)}finally{ancestors.pop()}}__name(compare,"compare");function compareObjects(a,b,comparison){
if(!compareWrapped(a,b))return false;if(ArrayBuffer.isView(a))return ArrayBuffer.isView(b)&&compareViews(a,b);if(a instanceof
Map||b instanceof Map){if(!(a instanceof Map&&b instanceof Map)||!compareMaps(a,b,comparison))return false}if(a instanceof
Set||b instanceof Set){if(!(a instanceof Set&&b instanceof Set)||!compareSets(a,b,comparison))return false}if(Array.isArray(
a)&&a.length!==b.length)return false;const keys=comparableKeys(a,comparison.isStrict);if(keys.length!==comparableKeys(b,
comparison.isStrict).length)return false;const[one,other]=[a,b];return keys.every(key=>Object.hasOwn(b,key)&&compare(one[key],
other[key],comparison))}__name(compareObjects,"compareObjects");function compareWrapped(a,b){if(a instanceof Date||b instanceof
Date){if(!(a instanceof Date&&b instanceof Date)||a.getTime()!==b.getTime())return false}if(a instanceof RegExp||b instanceof
RegExp){if(String(a)!==String(b))return false}if(a instanceof Error||b instanceof Error){if(!(a instanceof Error&&b instanceof
Error)||a.message!==b.message||a.name!==b.name)return false}if(a instanceof Number||a instanceof String||a instanceof Boolean){
if(!Object.is(a.valueOf(),b.valueOf()))return false}return true}__name(compareWrapped,"compareWrapped");function compareViews(a,b){
if(a.byteLength!==b.byteLength)return false;const[one,other]=[a,b];for(let i=0;i<one.length;i++)if(!Object.is(one[i],other[i]))
return false;return true}__name(compareViews,"compareViews");function compareMaps(a,b,comparison){if(a.size!==b.size)return false;
for(const[key,value]of a){const isIncluded=b.has(key)?compare(value,b.get(key),comparison):[...b].some(entry=>compare(key,
entry[0],comparison)&&compare(value,entry[1],comparison));if(!isIncluded)return false}return true}__name(compareMaps,"co\\
mpareMaps");function compareSets(a,b,comparison){if(a.size!==b.size)return false;for(const value of a){if(!b.has(value)&&
![...b].some(other=>compare(value,other,comparison)))return false}return true}__name(compareSets,"compareSets");function comparableKeys(value,isStrict){
return isStrict?[...Object.keys(value),...enumerableSymbols(value)]:Object.keys(value)}__name(comparableKeys,"comparable\\
Keys");var AssertionError=class extends Error{static{__name(this,"AssertionError")}constructor({message,actual,expected,operator,
isGenerated=false}){super(message);this.name="AssertionError";this.code="ERR_ASSERTION";this.actual=actual;this.expected=
expected;this.operator=operator;this.generatedMessage=isGenerated}get[Symbol.toStringTag](){return"AssertionError"}};function fail(message,actual,expected,operator,describe2){
if(message instanceof Error)throw message;const isGenerated=message===void 0;throw new AssertionError({message:isGenerated?
describe2():String(message),isGenerated,actual,expected,operator})}__name(fail,"fail");var linesOf=__name(value=>inspect(
value,{depth:8}).split("\\n"),"linesOf");function difference(title,actual,expected){return()=>{const a=linesOf(actual);const b=linesOf(
expected);if(a.length===1&&b.length===1&&typeof actual!=="object"&&typeof expected!=="object"){return\`\${title}:

\${a[0]} !== \${b[0]}
\`}return\`\${title}:
+ actual - expected

\${differingLines(a,b).join("\\n")}
\`}}__name(difference,"difference");function differingLines(actual,expected){const lines=[];let a=0;let b=0;while(a<actual.
length||b<expected.length){if(a<actual.length&&b<expected.length&&actual[a]===expected[b]){lines.push(\`  \${actual[a]}\`);
a++;b++;continue}const ahead=expected.indexOf(actual[a],b);const behind=actual.indexOf(expected[b],a);const inNeither=ahead===
-1&&behind===-1;const isNearer=behind!==-1&&(ahead===-1||behind-a<=ahead-b);if(a<actual.length&&(isNearer||b>=expected.length||
inNeither)){lines.push(\`+ \${actual[a++]}\`);if(inNeither&&b<expected.length)lines.push(\`- \${expected[b++]}\`)}else lines.push(
\`- \${expected[b++]}\`)}return lines}__name(differingLines,"differingLines");function requireError(error2,expected,message,operator){
if(expected===void 0)return;if(typeof expected==="function"){if(expected.prototype!==void 0&&error2 instanceof expected)
return;if(Object.prototype.isPrototypeOf.call(Error,expected)||expected===Error)throw error2;const verdict=expected.call(
{},error2);if(verdict===true)return;const text=\`The validation function is expected to return "true". Received \${inspect(
verdict)}\`;fail(message,error2,expected,operator,()=>text)}if(expected instanceof RegExp){if(!expected.test(String(error2)))
fail(message,error2,expected,operator,()=>mismatch(String(error2),expected));return}const properties=expected;for(const key of[
...Object.keys(properties),...expected instanceof Error?["name","message"]:[]]){const value=properties[key];const actual=error2?.[key];
const isExpected=value instanceof RegExp&&typeof actual==="string"?value.test(actual):isDeepEqual(actual,value,true);if(isExpected)
continue;const describe2=difference("Expected values to be strictly deep-equal",actual,value);fail(message,error2,expected,
operator,describe2)}}__name(requireError,"requireError");function mismatch(text,pattern){return\`The input did not match \\
the regular expression \${pattern}. Input:

\${inspect(text)}
\`}__name(mismatch,"mismatch");function nameOf(expected){const{name}=expected??{};return name?\` (\${name}).\`:"."}__name(nameOf,
"nameOf");function truthyAssertion(name){return __name(function ok(...args){const[value,message]=args;if(value)return;fail(
args.length===0?"No value argument passed to assert.ok()":message,value,true,"==",()=>{return\`The expression evaluated t\\
o a falsy value:

  \${name}(\${inspect(value)})
\`})},"ok")}__name(truthyAssertion,"truthyAssertion");var settle=__name(async task=>typeof task==="function"?task():task,
"settle");var expectation=__name((expected,message)=>typeof expected==="string"?[void 0,expected]:[expected,message],"ex\\
pectation");function failUnwanted(kind,error2,message,operator){const{message:text}=error2??{};fail(typeof message==="st\\
ring"?message:void 0,error2,void 0,operator,()=>{return\`Got unwanted \${kind}.
Actual message: "\${text}"\`})}__name(failUnwanted,"failUnwanted");var comparisons={equal(actual,expected,message){if(isEqual(
actual,expected))return;fail(message,actual,expected,"==",()=>\`\${inspect(actual)} == \${inspect(expected)}\`)},notEqual(actual,expected,message){
if(!isLooselyEqual(actual,expected))return;fail(message,actual,expected,"!=",()=>\`\${inspect(actual)} != \${inspect(expected)}\`)},
strictEqual(actual,expected,message){if(Object.is(actual,expected))return;const describe2=difference("Expected values to\\
 be strictly equal",actual,expected);fail(message,actual,expected,"strictEqual",describe2)},notStrictEqual(actual,expected,message){
if(!Object.is(actual,expected))return;fail(message,actual,expected,"notStrictEqual",()=>{return\`Expected "actual" to be \\
strictly unequal to: \${inspect(expected)}\`})},deepEqual(actual,expected,message){if(isDeepEqual(actual,expected,false))return;
const describe2=difference("Expected values to be loosely deep-equal",actual,expected);fail(message,actual,expected,"dee\\
pEqual",describe2)},notDeepEqual(actual,expected,message){if(!isDeepEqual(actual,expected,false))return;fail(message,actual,
expected,"notDeepEqual",()=>{return\`Expected "actual" not to be loosely deep-equal to: \${inspect(expected)}\`})},deepStrictEqual(actual,expected,message){
if(isDeepEqual(actual,expected,true))return;const describe2=difference("Expected values to be strictly deep-equal",actual,
expected);fail(message,actual,expected,"deepStrictEqual",describe2)},notDeepStrictEqual(actual,expected,message){if(!isDeepEqual(
actual,expected,true))return;fail(message,actual,expected,"notDeepStrictEqual",()=>{return\`Expected "actual" not to be s\\
trictly deep-equal to: \${inspect(expected)}\`})}};var others={ok:truthyAssertion("assert.ok"),match(text,pattern,message){
if(typeof text==="string"&&pattern.test(text))return;fail(message,text,pattern,"match",()=>mismatch(text,pattern))},doesNotMatch(text,pattern,message){
if(typeof text!=="string"||!pattern.test(text))return;fail(message,text,pattern,"doesNotMatch",()=>{return\`The input was\\
 expected to not match the regular expression \${pattern}. Input:

\${inspect(text)}
\`})},fail(message){fail(message,void 0,void 0,"fail",()=>"Failed")},ifError(error2){if(error2===null||error2===void 0)return;
if(error2 instanceof Error)throw error2;const message=\`ifError got unwanted exception: \${inspect(error2)}\`;throw new AssertionError(
{message,actual:error2,expected:null,operator:"ifError"})},throws(run,expectedError,ownMessage){const[expected,message]=expectation(
expectedError,ownMessage);try{run()}catch(error2){requireError(error2,expected,message,"throws");return}fail(message,void 0,
expected,"throws",()=>\`Missing expected exception\${nameOf(expected)}\`)},doesNotThrow(run,message){try{run()}catch(error2){
failUnwanted("exception",error2,message,"doesNotThrow")}},async rejects(task,expectedError,ownMessage){const[expected,message]=expectation(
expectedError,ownMessage);try{await settle(task)}catch(error2){requireError(error2,expected,message,"rejects");return}fail(
message,void 0,expected,"rejects",()=>\`Missing expected rejection\${nameOf(expected)}\`)},async doesNotReject(task,message){
try{await settle(task)}catch(error2){failUnwanted("rejection",error2,message,"doesNotReject")}}};var strict=Object.assign(
truthyAssertion("assert.ok"),others,comparisons,{equal:comparisons.strictEqual,notEqual:comparisons.notStrictEqual,deepEqual:comparisons.
deepStrictEqual,notDeepEqual:comparisons.notDeepStrictEqual,AssertionError});Object.assign(strict,{strict});var assert=Object.
assign(truthyAssertion("assert"),others,comparisons,{AssertionError,strict});function randomBytes(size){const bytes=Buffer2.alloc(size);for(let i=0;i<size;i++)bytes[i]=Math.floor(Math.random()*256);
return bytes}__name(randomBytes,"randomBytes");var Hash=class{static{__name(this,"Hash")}#parts=[];update(data,encoding){
this.#parts.push(typeof data==="string"?Buffer2.from(data,encoding):Buffer2.from(data));return this}digest(encoding){const bytes=Buffer2.
from(sha256(bytesOf(Buffer2.concat(this.#parts))),"hex");return encoding?bytes.toString(encoding):bytes}};var crypto={createHash(name){
if(String(name).toLowerCase().replace("-","")!=="sha256"){throw new Error(\`Only sha256 is available in this shell, not \${name}\`)}
return new Hash},randomBytes,randomInt(min,max){return max===void 0?crypto.randomInt(0,min):min+Math.floor(Math.random()*
(max-min))},randomUUID(){const bytes=randomBytes(16);bytes[6]=bytes[6]&15|64;bytes[8]=bytes[8]&63|128;return bytes.toString(
"hex").replace(/^(.{8})(.{4})(.{4})(.{4})(.{12})$/,"$1-$2-$3-$4-$5")}};var os={EOL:"\\n",platform:__name(()=>"linux","platform"),type:__name(()=>"Linux","type"),arch:__name(()=>"x64","arch"),release:__name(
()=>"0","release"),tmpdir:__name(()=>"/tmp","tmpdir"),homedir:__name(()=>"/workspace","homedir"),hostname:__name(()=>"wo\\
rkspace","hostname"),cpus:__name(()=>[],"cpus"),availableParallelism:__name(()=>1,"availableParallelism"),totalmem:__name(
()=>0,"totalmem"),freemem:__name(()=>0,"freemem"),endianness:__name(()=>"LE","endianness")};function mockFunction(original,implementation){const isFunction=typeof original==="function";const initial=isFunction?original:
()=>{};let run=(isFunction?implementation:void 0)??initial;const calls=[];function mocked(...args){const call2={arguments:args,
this:this,result:void 0,error:void 0};calls.push(call2);try{call2.result=run.apply(this,args);return call2.result}catch(error2){
call2.error=error2;throw error2}}__name(mocked,"mocked");mocked.mock={calls,callCount:__name(()=>calls.length,"callCount"),
resetCalls(){calls.length=0},mockImplementation(replacement){run=replacement},restore(){run=initial}};return mocked}__name(
mockFunction,"mockFunction");function createMocks(){let methods=[];const mocks={fn:mockFunction,method(object,name,implementation){
const original=object[name];const mocked=mockFunction(original,implementation);object[name]=mocked;mocked.mock.restore=()=>{
object[name]=original};methods.push(mocked);return mocked},restoreAll(){for(const{mock}of methods)mock.restore();methods=
[]},reset(){mocks.restoreAll()}};return mocks}__name(createMocks,"createMocks");var root=createSuite(void 0);var current=root;var isUsed=false;var isStarted=false;var totals={tests:0,suites:0,pass:0,fail:0,
cancelled:0,skipped:0,todo:0};var failures=[];function createSuite(parent){return{parent,items:[],before:[],after:[],beforeEach:[],
afterEach:[]}}__name(createSuite,"createSuite");function parse(args,more){const list=[...args];const name=typeof list[0]===
"string"?list.shift():void 0;const options=typeof list[0]==="object"&&list[0]!==null?list.shift():{};const run=typeof list[0]===
"function"?list.shift():void 0;let settle2=__name(()=>{},"settle");const done=new Promise(resolve=>{settle2=resolve});const title=String(
name||run?.name||"<anonymous>");return{name:title,options:Object.assign({},options,more),run,done,settle:settle2}}__name(
parse,"parse");function testWith(options){return(...args)=>{isUsed=true;const test2={...parse(args,options),kind:"test"};
current.items.push(test2);return test2.done}}__name(testWith,"testWith");function describeWith(options){return(...args)=>{
isUsed=true;const group2={...parse(args,options),kind:"suite",content:createSuite(current)};current.items.push(group2);const outer=current;
current=group2.content;try{const result=group2.options.skip?void 0:group2.run?.call({},{name:group2.name});if(isThenable(
result))group2.building=Promise.resolve(result)}catch(error2){group2.failure=error2}finally{current=outer}return group2.
done}}__name(describeWith,"describeWith");function isThenable(value){return typeof value?.then==="function"}__name(isThenable,
"isThenable");function hook(name){return run=>{isUsed=true;current[name].push(run)}}__name(hook,"hook");async function call(run,context){
if(run.length<2)return run.call(context,context);return new Promise((resolve,reject)=>{run.call(context,context,error2=>error2?
reject(error2):resolve(void 0))})}__name(call,"call");async function callAll(hooks,context){for(const run of hooks)await call(
run,context)}__name(callAll,"callAll");async function withTimeLimit(run,ms){if(ms===void 0||ms===Number.POSITIVE_INFINITY)
return run();let timer;try{const expiry=new Promise((_,reject)=>{const message=\`test timed out after \${ms}ms\`;timer=setTimeout(
()=>reject(codedError(Error,"ERR_TEST_FAILURE",message)),ms)});return await Promise.race([run(),expiry])}finally{clear(timer)}}
__name(withTimeLimit,"withTimeLimit");function print(depth,text){writeOutput(1,\`\${"  ".repeat(depth)}\${text}
\`)}__name(print,"print");function printOutcome({name,options},depth,outcome,startTime2){const mark={pass:"✔",fail:"✖",
skip:"﹣"}[outcome];const note=options.skip?" # SKIP":options.todo?" # TODO":"";print(depth,\`\${mark} \${name} (\${Date.now()-
startTime2}ms)\${note}\`)}__name(printOutcome,"printOutcome");function isSelected(item){if(facts.namePattern===void 0||new RegExp(
facts.namePattern).test(item.name))return true;return item.kind==="suite"&&item.content.items.some(isSelected)}__name(isSelected,
"isSelected");function inheritedHooks(suite,name,isOuterFirst){let hooks=[];for(let at=suite;at;at=at.parent){hooks=isOuterFirst?
[...at[name],...hooks]:[...hooks,...at[name]]}return hooks}__name(inheritedHooks,"inheritedHooks");function createContext(test2,depth,suite){
const parts=createSuite(suite);const state={afterHooks:[],failedParts:0};const context={name:test2.name,fullName:test2.name,
signal:{aborted:false},diagnostic(text){print(depth,\`ℹ \${text}\`)},skip(){test2.options.skip=true},todo(){test2.options.
todo=true},plan(){},runOnly(){},before:__name(run=>void parts.before.push(run),"before"),after:__name(run=>void state.afterHooks.
push(run),"after"),beforeEach:__name(run=>void parts.beforeEach.push(run),"beforeEach"),afterEach:__name(run=>void parts.
afterEach.push(run),"afterEach"),assert,mock:createMocks(),async test(...args){if(!await runTest({...parse(args),kind:"t\\
est"},depth+1,parts))state.failedParts++}};return{context,state}}__name(createContext,"createContext");async function attempt(test2,depth,suite){
const{context,state}=createContext(test2,depth,suite);let failure;try{await callAll(inheritedHooks(suite,"beforeEach",true),
context);await withTimeLimit(()=>call(test2.run,context),test2.options.timeout);if(state.failedParts>0){const message=\`\${state.
failedParts} subtest\${state.failedParts>1?"s":""} failed\`;throw codedError(Error,"ERR_TEST_FAILURE",message)}}catch(error2){
failure={error:error2===void 0?new Error("undefined was thrown"):error2}}try{await callAll(state.afterHooks,context);await callAll(
inheritedHooks(suite,"afterEach",false),context)}catch(error2){failure??={error:error2}}context.mock.restoreAll();return failure}
__name(attempt,"attempt");async function runTest(test2,depth,suite){totals.tests++;const startTime2=Date.now();const{options,
run}=test2;const isOmitted=options.skip||run===void 0&&!options.todo;const failure=isOmitted||run===void 0?void 0:await attempt(
{...test2,run},depth,suite);const isSkipped=Boolean(isOmitted||options.skip);const isFailed=failure!==void 0&&!isSkipped&&
!options.todo;totals[isSkipped?"skipped":options.todo?"todo":isFailed?"fail":"pass"]++;printOutcome(test2,depth,isSkipped?
"skip":isFailed?"fail":"pass",startTime2);if(isFailed)failures.push({name:test2.name,error:failure.error});test2.settle();
return!isFailed}__name(runTest,"runTest");async function runGroup(group2,depth){totals.suites++;const startTime2=Date.now();
const{content,options}=group2;let{failure}=group2;let isGood=true;print(depth,\`▶ \${group2.name}\`);try{await group2.building}catch(error2){
failure=error2}if(failure===void 0&&!options.skip){try{await callAll(content.before,{});isGood=await runAll(content,depth+
1)}catch(error2){failure=error2}try{await callAll(content.after,{})}catch(error2){failure??=error2}}if(failure!==void 0){
isGood=false;totals.fail++;failures.push({name:group2.name,error:failure})}printOutcome(group2,depth,options.skip?"skip":
isGood?"pass":"fail",startTime2);group2.settle();return isGood}__name(runGroup,"runGroup");async function runAll(suite,depth){
let isGood=true;const hasOnly=suite.items.some(({options})=>options.only);for(let i=0;i<suite.items.length;i++){const item=suite.
items[i];if(hasOnly&&!item.options.only||!isSelected(item)){item.settle();continue}const isItemGood=item.kind==="suite"?
await runGroup(item,depth):await runTest(item,depth,suite);if(!isItemGood)isGood=false}return isGood}__name(runAll,"runA\\
ll");function startTests(){if(isStarted||!isUsed)return;isStarted=true;runRegistered()}__name(startTests,"startTests");async function runRegistered(){
const[,file]=facts.argv;try{await callAll(root.before,{});await runAll(root,0);await callAll(root.after,{})}catch(error2){
totals.fail++;failures.push({name:file,error:error2})}if(totals.fail>0)process.exitCode=1;const texts=failures.map(({name,
error:error2})=>({name,file,text:inspect(error2)}));reportTests(JSON.stringify({totals,failures:texts}))}__name(runRegistered,
"runRegistered");var test=testWith();var describe=Object.assign(describeWith(),{skip:describeWith({skip:true}),todo:describeWith(
{todo:true}),only:describeWith({only:true})});var testModule=Object.assign(test,{test,it:test,describe,suite:describeWith(),
before:hook("before"),after:hook("after"),beforeEach:hook("beforeEach"),afterEach:hook("afterEach"),mock:createMocks(),skip:testWith(
{skip:true}),todo:testWith({todo:true}),only:testWith({only:true})});var TextEncoder=class{static{__name(this,"TextEncoder")}get encoding(){return"utf-8"}encode(text=""){return new Uint8Array(
encode(String(text),"utf8"))}};var TextDecoder=class{static{__name(this,"TextDecoder")}constructor(label="utf-8"){this.encoding=
String(label).toLowerCase()}decode(bytes){if(bytes===void 0)return"";const encoding=this.encoding==="latin1"?"latin1":this.
encoding==="utf-16le"?"utf16le":"utf8";const text=decode(bytes instanceof ArrayBuffer?bytes:bytesOf(bytes),encoding);return text.
charCodeAt(0)===65279?text.slice(1):text}};var types={isPromise:__name(value=>value instanceof Promise,"isPromise"),isRegExp:__name(value=>value instanceof RegExp,
"isRegExp"),isDate:__name(value=>value instanceof Date,"isDate"),isMap:__name(value=>value instanceof Map,"isMap"),isSet:__name(
value=>value instanceof Set,"isSet"),isNativeError:__name(value=>value instanceof Error,"isNativeError"),isTypedArray:__name(
value=>ArrayBuffer.isView(value)&&!(value instanceof DataView),"isTypedArray"),isUint8Array:__name(value=>value instanceof
Uint8Array,"isUint8Array")};var util={inspect,format,types,TextEncoder,TextDecoder,isDeepStrictEqual:__name((a,b)=>isDeepEqual(
a,b,true),"isDeepStrictEqual"),promisify(run){return __name(function promised(...args){return new Promise((resolve,reject)=>{
const done=__name((error2,value)=>error2?reject(error2):resolve(value),"done");run.call(this,...args,done)})},"promised")},
callbackify(run){return __name(function callingBack(...args){const done=args.pop();run.apply(this,args).then(value=>done(
null,value),done)},"callingBack")},inherits(child,parent){Object.setPrototypeOf(child.prototype,parent.prototype);Object.
setPrototypeOf(child,parent)},deprecate:__name(run=>run,"deprecate"),stripVTControlCharacters:__name(text=>text.replace(
/\\u001b\\[[0-9;]*[A-Za-z]/g,""),"stripVTControlCharacters"),styleText:__name((_,text)=>text,"styleText")};var builtins=new Map(Object.entries({buffer:bufferModule,console,events:EventEmitter,path,"path/posix":path,fs,"fs/promi\\
ses":promises,process,util,timers:timersModule,"timers/promises":timersPromises,perf_hooks:{performance},os,url:urlModule,
crypto,module:{createRequire,builtinModules:[]},assert,"assert/strict":strict,test:testModule}));Object.assign(builtins.
get("module")??{},{builtinModules:[...builtins.keys()]});var cache=Object.create(null);var main;function createRequire(from){
return requireFrom(path.dirname(typeof from==="string"&&from.startsWith("/")?from:fileURLToPath(from)))}__name(createRequire,
"createRequire");function requireFrom(directory){const resolve=__name(name=>callHost("resolve",[String(name),directory,"\\
require"]),"resolve");const require2=__name(name=>loadAny(resolve(name)),"require");return Object.assign(require2,{resolve(name){
const module=resolve(name);return module.builtin?name:module.path},cache,main})}__name(requireFrom,"requireFrom");function loadAny(module){
return module.builtin===void 0?loadFile(module):builtins.get(module.builtin)}__name(loadAny,"loadAny");function loadFile({
path:file,format:format2}){if(file in cache)return cache[file].exports;if(format2==="module"){const message=\`require() o\\
f ES Module \${file} is not supported; use import\`;throw codedError(Error,"ERR_REQUIRE_ESM",message)}const module={id:file,
filename:file,path:path.dirname(file),exports:{},loaded:false,children:[],paths:[]};cache[file]=module;main??=module;try{
evaluate(module,Buffer2.from(callHost("read",[file])).toString().replace(/^\\uFEFF/,""),format2);module.loaded=true}catch(error2){
delete cache[file];throw error2}return module.exports}__name(loadFile,"loadFile");function evaluate(module,text,format2){
const{filename}=module;if(format2==="json"){try{module.exports=JSON.parse(text)}catch(error2){throw new SyntaxError(\`\${filename}\\
: \${error2.message}\`)}return}const require2=requireFrom(module.path);module.require=require2;const run=compile(text.replace(
/^#!/,"//"),filename);run.call(module.exports,module.exports,require2,module,filename,module.path)}__name(evaluate,"eval\\
uate");Object.assign(process,{chdir});var __ward={exportNames:__name(()=>[...builtins].map(([name,module])=>[name,Object.keys(module)]),
"exportNames"),builtin:__name(name=>builtins.get(name),"builtin"),requireFrom,load:loadFile,imported:loadAny,describe:__name(
error2=>inspect(error2),"describe"),startTests,wait:timeToNextTimer,fire:runDueTimer};var{setTimeout:setTimeout2,setInterval:setInterval2,
setImmediate:setImmediate2,clearTimeout,clearInterval,clearImmediate,queueMicrotask:queueMicrotask2}=timers_exports;Object.
assign(globalThis,{__ward,global:globalThis,process,console,Buffer:Buffer2,TextEncoder,TextDecoder,URL,performance,atob,
btoa,structuredClone,setTimeout:setTimeout2,setInterval:setInterval2,setImmediate:setImmediate2,clearTimeout,clearInterval,
clearImmediate,queueMicrotask:queueMicrotask2});})();
`
