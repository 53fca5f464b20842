import { Type } from 'typebox';
import { listed } from '../envelopes.ts';
import {
  consistencyQuery,
  entriesQuery,
  inclusionQuery,
  leafQuery,
  publicPageQuery,
  treeHeadQuery,
  treeHeadsQuery,
} from '../parameters.ts';
import { text, uuid } from '../resources/fields.ts';
import {
  ConsistencyProof,
  InclusionProof,
  JsonWebKey,
  JsonWebKeySet,
  Leaf,
  ProofBundle,
  SignedTreeHead,
  treeHeadId,
} from '../resources/transparency.ts';
import { bytes, closed, json, list, type Route } from './route.ts';

const entryReaders = ['auditor', 'analyst', 'admin'] as const;
/** The longest valid tile path has 37 characters. */
const tilePath = (description: string) => text(description, { minLength: 1, maxLength: 64 });
const tileParams = Type.Object(
  {
    tile: tilePath(
      '<L>/<N> for a full tile, <L>/<N>.p/<W> for a partial tile of W hashes; N in groups of three digits.',
    ),
  },
  closed,
);
const bundleParams = Type.Object(
  {
    bundle: tilePath(
      '<N> for a full bundle, <N>.p/<W> for a partial bundle of W entries; N in groups of three digits.',
    ),
  },
  closed,
);

/** The transparency log: tree heads, proofs, entries, tiles and keys. */
export const transparencyRoutes = {
  getTreeHead: {
    method: 'GET',
    path: '/api/transparency/sth',
    summary: 'Get a signed tree head',
    tag: 'transparency',
    access: 'public',
    query: treeHeadQuery,
    responses: { 200: json(SignedTreeHead) },
    errors: ['LOG_EMPTY', 'NOT_FOUND'],
  },
  getInclusionProof: {
    method: 'GET',
    path: '/api/transparency/inclusion',
    summary: 'Get an inclusion proof for a leaf',
    tag: 'transparency',
    access: 'public',
    query: inclusionQuery,
    responses: { 200: json(InclusionProof) },
    errors: ['NOT_FOUND', 'LOG_EMPTY'],
  },
  getConsistencyProof: {
    method: 'GET',
    path: '/api/transparency/consistency',
    summary: 'Get a consistency proof between two tree sizes',
    tag: 'transparency',
    access: 'public',
    query: consistencyQuery,
    responses: { 200: json(ConsistencyProof) },
  },
  getLeaf: {
    method: 'GET',
    path: '/api/transparency/leaf',
    summary: 'Get a log entry and its canonical bytes',
    tag: 'transparency',
    access: entryReaders,
    partlyPublic: true,
    query: leafQuery,
    responses: { 200: json(Leaf) },
    errors: ['NOT_FOUND'],
  },
  listTreeHeads: {
    method: 'GET',
    path: '/api/transparency/sths',
    summary: 'List signed tree heads, oldest first',
    tag: 'transparency',
    access: 'public',
    query: treeHeadsQuery,
    responses: { 200: list(listed('tree_head', treeHeadId, SignedTreeHead)) },
  },
  listEntries: {
    method: 'GET',
    path: '/api/transparency/entries',
    summary: 'List log entries, oldest first; entries of kinds key.… are public',
    tag: 'transparency',
    access: entryReaders,
    partlyPublic: true,
    query: entriesQuery,
    responses: { 200: list(listed('log_entry', uuid('Identifier of the entry.'), Leaf)) },
  },
  getProofBundle: {
    method: 'GET',
    path: '/api/transparency/proof',
    summary: 'Get a proof bundle that verifies offline that an entry is in the log',
    tag: 'transparency',
    access: entryReaders,
    partlyPublic: true,
    query: leafQuery,
    responses: { 200: json(ProofBundle) },
    errors: ['NOT_FOUND', 'LOG_EMPTY'],
  },
  getCheckpoint: {
    method: 'GET',
    path: '/checkpoint',
    summary: 'Get the latest checkpoint, a signed note (C2SP tlog-checkpoint)',
    tag: 'transparency',
    access: 'public',
    responses: { 200: { kind: 'text', mediaType: 'text/plain; charset=utf-8' } },
    errors: ['LOG_EMPTY'],
  },
  getTile: {
    method: 'GET',
    path: '/tile/:tile*',
    summary: 'Get a tile of tree hashes (C2SP tlog-tiles)',
    tag: 'transparency',
    access: 'public',
    params: tileParams,
    responses: { 200: bytes },
    errors: ['NOT_FOUND'],
  },
  getEntryBundle: {
    method: 'GET',
    path: '/tile/entries/:bundle*',
    summary: 'Get an entry bundle: canonical bytes of log entries (C2SP tlog-tiles)',
    tag: 'transparency',
    access: entryReaders,
    mayBePublic: true,
    params: bundleParams,
    responses: { 200: bytes },
    errors: ['NOT_FOUND'],
  },
  listKeyHistory: {
    method: 'GET',
    path: '/api/transparency/key-history',
    summary:
      'List log entries about keys (key.rotated, key.retired, key.revoked, log.life_started), oldest first',
    tag: 'transparency',
    access: 'public',
    query: publicPageQuery,
    responses: { 200: list(listed('log_entry', uuid('Identifier of the entry.'), Leaf)) },
  },
  listPublicKeys: {
    method: 'GET',
    path: '/api/transparency/keys',
    summary: 'List every public key ever used, oldest first',
    tag: 'transparency',
    access: 'public',
    query: publicPageQuery,
    responses: { 200: list(listed('public_key', uuid('Identifier (kid) of the key.'), JsonWebKey)) },
  },
  getKeySet: {
    method: 'GET',
    path: '/.well-known/jwks.json',
    summary: 'Get the current public keys: active, pending and recently retired',
    tag: 'transparency',
    access: 'public',
    responses: { 200: json(JsonWebKeySet) },
  },
} as const satisfies Record<string, Route>;
