// Keeps keys out of files: denies a Write or Edit whose text holds one.
'use strict';
const path = require('node:path');
const grpc = require('@grpc/grpc-js');
const loader = require('@grpc/proto-loader');
const protobuf = require('protobufjs');

if (process.env.TENTERHOOK_PLUGIN !== 'hooks') {
  console.error('a plugin of tenterhook: put it into plugins/secrets/ and run tenterhook trust plugin/secrets/secrets');
  process.exit(1);
}
const {root} = protobuf.parse(require('./hook.proto'), {keepCase: true});
const {Hooks} = grpc.loadPackageDefinition(loader.fromJSON(root.toJSON(), {keepCase: true})).tenterhook.plugin.v1;

const secrets = {
  'an AWS access key': /\bAKIA[0-9A-Z]{16}\b/,
  'a GitHub token': /\bgh[pousr]_[A-Za-z0-9]{36}\b/,
  'a private key': /-----BEGIN [A-Z ]*PRIVATE KEY-----/,
};

function judge(event) {
  const text = Object.values(event.tool_input ?? {}).filter((v) => typeof v === 'string').join('\n');
  const found = Object.keys(secrets).find((name) => secrets[name].test(text));
  return found && {hookSpecificOutput: {hookEventName: 'PreToolUse', permissionDecision: 'deny',
    permissionDecisionReason: `the text holds ${found}; read it from the environment instead`}};
}

const server = new grpc.Server({'grpc.max_receive_message_length': -1});
server.addService(Hooks.service, {
  Health: (call, done) => done(null, {}),
  Describe: (call, done) => done(null, {name: 'secrets', version: '1.0.0', description: 'keeps keys out of files',
    hooks: [{name: 'no-secrets', event: 'PreToolUse', matcher: 'Write|Edit', on_failure: 'block', timeout_ms: 5000}]}),
  Handle: (call, done) => {
    try {
      const answer = judge(JSON.parse(call.request.input.toString('utf8')));
      done(null, {stdout: Buffer.from(answer ? JSON.stringify(answer) : '')});
    } catch (err) {
      done(null, {exit_code: 1, stderr: String(err)});
    }
  },
});
const socket = path.join(process.env.PLUGIN_UNIX_SOCKET_DIR, 'node.sock');
server.bindAsync(`unix:${socket}`, grpc.ServerCredentials.createInsecure(), (err) => {
  if (err) throw err;
  console.log(`1|1|unix|${socket}|grpc`);
});
process.on('SIGTERM', () => process.exit(0));
