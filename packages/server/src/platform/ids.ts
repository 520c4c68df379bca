import { type IdKind, idPrefixes } from "@perch/contract";
import { fromString, fromUUID, toUUID, typeidUnboxed } from "typeid-js";

/** Ids are TypeIDs outside and UUIDs in the database. This file is the border. */
export const newUuid = (): string => toUUID(typeidUnboxed());

/** The time in a UUIDv7. */
export const uuidTime = (uuid: string): Date => new Date(Number.parseInt(uuid.slice(0, 8) + uuid.slice(9, 13), 16));

export const newPublicId = (kind: IdKind): string => typeidUnboxed(idPrefixes[kind]);

export const toPublicId = (kind: IdKind, uuid: string): string => fromUUID(uuid, idPrefixes[kind]);

/** The UUID of a public id of this kind, or undefined for anything else. */
export function parsePublicId(kind: IdKind, text: string): string | undefined {
  try {
    return toUUID(fromString(text, idPrefixes[kind]));
  } catch {
    return undefined;
  }
}
