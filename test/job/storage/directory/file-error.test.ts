// Each error of the file system has a meaning and a remedy.

import { describe, expect, it } from "vitest";
import { codeOf } from "../../../../lambdas/job/errors/sync-error.ts";
import { fileError } from "../../../../lambdas/job/storage/directory/file-error.ts";
import { said } from "../../../words/said.ts";

const errno = (code: string): Error => Object.assign(new Error("raw"), { code });

describe("fileError", () => {
  it.each([
    ["write", "ENOSPC", "the disk or the quota is full (ENOSPC). Free some space and start again"],
    ["write", "EDQUOT", "the disk or the quota is full (EDQUOT). Free some space and start again"],
    ["write", "EACCES", "Give it permission to read and write the directory"],
    ["write", "EPERM", "Give it permission to read and write the directory"],
    ["read", "EACCES", "this user lacks the permission to read it"],
    ["read", "EPERM", "this user lacks the permission to read it"],
    ["list", "EACCES", "this user lacks the permission to read it"],
    ["list", "EPERM", "this user lacks the permission to read it"],
    ["write", "EROFS", "the file system is read-only (EROFS). Choose another directory with --warehouse"],
    ["make the directory", "EEXIST", "a file is where a directory should be (EEXIST). Move the file"],
    ["read", "ENOTDIR", "a file is where a directory should be (ENOTDIR). Move the file"],
    ["read", "EISDIR", "a directory is where a file should be (EISDIR). Move the directory"],
    ["read", "EMFILE", "too many files are open (EMFILE). Lower --concurrency"],
    ["link", "EPERM", "this file system has no hard links"],
    ["link", "ENOTSUP", "this file system has no hard links"],
    ["link", "EXDEV", "Keep the whole warehouse on one disk"],
    ["link", "ENOSPC", "the disk or the quota is full"],
    ["lock", "ENOLCK", "this file system has no file locks"],
    ["lock", "EACCES", "this user may not write there, and what writes must lock the warehouse"],
    ["make the directory", "ENOENT", "the file system accepts no new directory there"],
    ["list", "ELOOP", "Remove the link and start again"],
    ["read", "EIO", "the file system reports an error (EIO). Check the disk"],
  ])("on %s explains %s as: %s", (verb, code, meaning) => {
    const error = fileError(errno(code), verb, "/warehouse/key");

    expect(error.code).toBe("STORE_FAILED");
    expect(error.message).toContain(`Could not ${verb} /warehouse/key: `);
    expect(said(error)).toContain(meaning);
    expect(error.message).toContain(`(${code})`);
    expect(error.fields).toEqual({ path: "/warehouse/key", errno: code });
  });

  it("is identified by its errno", () => {
    expect(codeOf(errno("ENOENT"))).toBe("ENOENT");
    expect(codeOf(new Error("raw"))).toBeUndefined();
    expect(codeOf("ENOENT")).toBeUndefined();
  });
});
