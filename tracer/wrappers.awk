# wrappers.awk -- the wrappers of the MPI functions, made from mpi_calls.table:
#
#   awk -v make=calls|c|fortran|f08 -f wrappers.awk mpi_calls.table
#
#   calls    MPI_CALLS(X), each function with its role
#   c        MPI_Send and so on, which call PMPI_Send
#   fortran  mpi_send_, which calls pmpi_send_ with the very arguments it was given: what is
#            recorded is converted, the program's own is not
#   f08      mpi_send_f08_, likewise
#
# A wrapper is always the same few steps; each line of the table adds one statement to a step.

function trim(s) {
    gsub(/^[ \t]+|[ \t]+$/, "", s)
    return s
}

# Arguments of the group at hand: name[1..n_args], type[] without the name, "[]" for arrays.
function split_args(    i, s) {
    n_args = args == "void" ? 0 : split(args, part, ",")
    for (i = 1; i <= n_args; i++) {
        s = trim(part[i])
        is_array = sub(/\[\]$/, "", s)
        match(s, /[A-Za-z_0-9]+$/)
        name[i] = substr(s, RSTART)
        type[i] = trim(substr(s, 1, RSTART - 1)) (is_array ? " []" : "")
    }
}

function is_mentioned(word, text) {
    return (" " text " ") ~ ("[^A-Za-z_0-9.]" word "[^A-Za-z_0-9]")
}

# How the programs of both languages declare and hand on the arguments.
function c_parameters(    i, s, t) {
    for (i = 1; i <= n_args; i++) {
        t = type[i]
        sub(/^INDEX/, "int", t)
        suffix = sub(/ \[\]$/, "", t) ? "[]" : ""
        s = s (i > 1 ? ", " : "") t (t ~ /\*$/ ? "" : " ") name[i] suffix
    }
    return n_args ? s : "void"
}

function c_arguments(    i, s) {
    for (i = 1; i <= n_args; i++)
        s = s (i > 1 ? ", " : "") name[i]
    return s
}

# argc and argv are not there in Fortran; the lengths of strings come last.
function fortran_list(before,    i, s) {
    for (i = 1; i <= n_args; i++)
        if (name[i] !~ /^arg[cv]$/)
            s = s before "f_" name[i] ", "
    s = s before "f_ierror"
    for (i = 1; i <= n_args; i++)
        if (type[i] ~ /char/ && name[i] !~ /^arg[cv]$/)
            s = s ", " (before == "" ? "" : "size_t ") "n_" name[i]
    return s
}

function fortran_types(    s) {
    s = fortran_list("void *")
    gsub(/f_[a-z_0-9]+/, "", s)
    gsub(/n_[a-z_0-9]+/, "", s)
    return s
}

# Types that hooks get as a list of mpi_handles.h; gives its name, or "".
function list_of(t) {
    if (t ~ /^MPI_Request (\*|\[\])$/) return "request_list"
    if (t == "MPI_Message *") return "message_list"
    if (t == "const MPI_Datatype []") return "type_list"
    if (t ~ /^MPI_Status \[\]$/) return "status_list"
    if (t ~ /^INDEX/) return "index_list"
    return ""
}

function is_list(i) {
    return list_of(type[i]) != ""
}

# A statement of a hook in which lists are named by their arguments.
function with_lists(text,    i, list, at, prefix) {
    for (i = 1; i <= n_args; i++) {
        list = list_of(type[i])
        if (list == "" || !is_mentioned(name[i], text))
            continue
        at = match(" " text " ", "[^A-Za-z_0-9.]" name[i] "[^A-Za-z_0-9]")
        prefix = is_c ? "c_" : make == "f08" && list == "index_list" ? "f08_" : "f_"
        text = substr(text, 1, at - 1) prefix list "(" \
            (list == "status_list" ? "wanted" : is_c ? name[i] : "f_" name[i]) ")" \
            substr(text, at + length(name[i]))
    }
    return text
}

# What a hook of Fortran needs of its arguments, converted.
function conversions(text, indent,    i, s, t) {
    for (i = 1; i <= n_args; i++) {
        t = type[i]
        if (list_of(t) != "" || !is_mentioned(name[i], text))
            continue
        s = s indent fortran_value(t, name[i]) ";\n"
    }
    return s
}

function fortran_value(t, n,    handle, value) {
    handle = t
    sub(/^MPI_/, "", handle)
    sub(/ \*$/, "", handle)
    if (t == "int") return "int " n " = *(const MPI_Fint *)f_" n
    if (t ~ /^MPI_(Comm|Datatype|File|Group|Win)( \*)?$/) {
        value = "PMPI_" (handle == "Datatype" ? "Type" : handle) "_f2c(*(MPI_Fint *)f_" n ")"
        if (t ~ /\*$/)
            value = "&(MPI_" handle "){" value "}"
        return t (t ~ /\*$/ ? "" : " ") n " = " value
    }
    if (t == "MPI_Offset") return "MPI_Offset " n " = *(const MPI_Offset *)f_" n
    if (t == "const char *")
        return "const char *" n " = fortran_text(f_" n ", n_" n ", (char[FORTRAN_LONGEST_TEXT]){0})"
    if (t == "MPI_Status *") return "const MPI_Status *" n " = fortran_status(f_" n ", &(MPI_Status){0})"
    if (t ~ /void \*$/) return "const void *" n " = fortran_buffer(f_" n ")"
    if (t ~ /int (\*|\[\])$/) return "const int *" n " = f_" n
    print "wrappers.awk: no conversion of '" t " " n "'" > "/dev/stderr"
    exit failed = 1
}

function operation_of(which) {
    if (which ~ /^I[a-z]/)
        which = substr(which, 2)
    return toupper(which)
}

function io_mode_of(which) {
    return "OTF2_IO_OPERATION_MODE_" (which ~ /read/ ? "READ" : which ~ /write/ ? "WRITE" : "FLUSH")
}

function io_flags_of(which) {
    return (which ~ /_all|_ordered|_sync/ ? "OTF2_IO_OPERATION_FLAG_COLLECTIVE" : "0u") \
        (which ~ /_iread|_iwrite|_begin$/ ? " | OTF2_IO_OPERATION_FLAG_NON_BLOCKING" : "")
}

function hooks(step, which,    i, s, text) {
    for (i = 1; i <= n_lines[step]; i++) {
        text = line[step, i]
        gsub(/OPERATION/, "OTF2_COLLECTIVE_OP_" operation_of(which), text)
        gsub(/IO_MODE/, io_mode_of(which), text)
        gsub(/IO_FLAGS/, io_flags_of(which), text)
        s = s (step == "after" ? "    if (is_good) {\n" : "    {\n") \
            (is_c ? "" : conversions(text, "        ")) "        " with_lists(text) ";\n    }\n"
    }
    return s
}

# Before MPI is called: a status, or an array of them, if the program ignores what is looked at.
function own_statuses(    i, s, given, ignore) {
    needs_statuses = 0
    for (i = 1; i <= n_args; i++) {
        if (type[i] !~ /Status/ || !is_mentioned(name[i], all_lines))
            continue
        given = is_c ? name[i] : "f_" name[i]
        ignore = is_list(i) ? "STATUSES" : "STATUS"
        ignore = is_c ? given " == MPI_" ignore "_IGNORE" \
                      : "fortran_ignores_" tolower(ignore) "(" given ")"
        needs_statuses = is_list(i)
        s = s (is_list(i) ? "    void *wanted = batch_statuses(&batch, " given ", " ignore ");\n" \
                          : "    MPI_Status own_status;\n\n    if (" ignore ")\n        " \
                            given " = (void *)&own_status;\n")
    }
    return s
}

# The call of MPI: its last line but what is said in `before`.
function call_mpi(which,    i, s) {
    s = is_c ? c_arguments() : fortran_list("")
    if (needs_statuses)
        for (i = 1; i <= n_args; i++)
            if (type[i] ~ /Status/)
                sub((is_c ? "" : "f_") name[i], "wanted", s)
    return is_c ? "PMPI_" which "(" s ");" : "mpi(" s ");"
}

# Where the wrapper returns to, which is where the program calls MPI.
# That of a collective also says whose it is: a limit of the cost may leave it out.
function body(which,    i, of_members) {
    of_members = index(all_lines, " operation_begin(&op, &call, comm) ")
    print "    struct call call = call_begin" (of_members ? "_on" : "") "(CALL_" which ", " \
        (is_c ? "__builtin_return_address(0)" : "returns_to") \
        (!of_members ? "" : is_c ? ", comm" : ", PMPI_Comm_f2c(*(const MPI_Fint *)f_comm)") ");"
    for (i = 1; i <= n_lines["state"]; i++)
        print "    " line["state", i] ";"
    needs_statuses = 0
    if (all_lines != "" && !even_unrecorded && is_c)
        print "\n    if (!call.is_recorded)\n        return " call_mpi(which)
    else if (all_lines != "" && !even_unrecorded)
        print "\n    if (!call.is_recorded) {\n        " call_mpi(which) "\n        return;\n    }"
    printf "%s", hooks("before", which) own_statuses()
    print "    call_asks(&call);"
    print (is_c ? "    int rc = " : "    ") call_mpi(which)
    print "    call_answers(&call);"
    if (n_lines["after"] || is_mentioned("is_good", all_lines))
        print "    bool is_good = " (is_c ? "rc == MPI_SUCCESS" : "fortran_succeeded(f_ierror)") ";\n"
    printf "%s", hooks("after", which) hooks("always", which)
    print "    call_end(&call);" (is_c ? "\n    return rc;" : "") "\n}\n"
}

# What is newer than other MPIs of the same name: a program that calls it has one that has it.
function make_c(which) {
    if (since)
        print "#pragma weak PMPI_" which
    print "EXPORTED int MPI_" which "(" c_parameters() ")\n{"
    body(which)
}

function make_fortran(which,    low) {
    low = tolower(which)
    print "typedef void " low "_fn(" fortran_types() ");"
    print "static void " low "_traced(" low "_fn *mpi, const void *returns_to, " \
        fortran_list("void *") ")\n{"
    body(which)
    fortran_entry(low, low (make == "f08" ? "_f08_" : "_"))
}

function fortran_entry(low, symbol) {
    print "EXPORTED void mpi_" symbol "(" fortran_list("void *") ")\n{"
    print "    static void *_Atomic found;\n"
    print "    " low "_traced((" low "_fn *)fortran_find(&found, FORTRAN_REAL_" \
        (make == "f08" ? "F08" : "MPI") " \"" symbol "\"), " \
        "__builtin_return_address(0), " fortran_list("") ");\n}\n"
}

function make_group(    i, n, which) {
    if (names == "")
        return
    split_args()
    n = split(names, which, " ")
    if (since && make != "calls")
        print "#if MPI_VERSION >= " since
    for (i = 1; i <= n; i++) {
        if (make == "calls")
            print "    X(" which[i] ", " role ", " is_optional ", " is_whole ") \\"
        else if (make == "c")
            make_c(which[i])
        else
            make_fortran(which[i])
    }
    if (since && make != "calls")
        print "#endif\n"
    names = ""
}

function remember(step, text) {
    line[step, ++n_lines[step]] = text
    saved[first, step, n_lines[step]] = text
    saved[first, step] = n_lines[step]
    if (step != "state")
        all_lines = all_lines " " text " ;"
}

function copy_from(other,    step, i) {
    for (step in steps)
        for (i = 1; i <= saved[other, step]; i++)
            remember(step, saved[other, step, i])
    even_unrecorded = saved_even[other]
}

BEGIN {
    is_c = make == "c"
    split("state before after always", step_names, " ")
    for (i in step_names)
        steps[step_names[i]] = 1
    print "/* Made by wrappers.awk from mpi_calls.table. */"
    if (make == "calls")
        print "#ifndef SNAG_TRACER_MPI_CALLS_H\n#define SNAG_TRACER_MPI_CALLS_H\n\n#define MPI_CALLS(X) \\"
    else
        print "#include \"collectives.h\"\n#include \"completions.h\"\n#include \"making.h\"\n" \
            "#include \"files.h\"\n#include \"messages.h\"\n#include \"run.h\"\n#include \"windows.h\""
    if (make == "fortran" || make == "f08")
        print "#include \"fortran.h\"\n\n" \
            "/* Nobody but the linker knows them. */\n" \
            "#pragma GCC diagnostic ignored \"-Wmissing-prototypes\"\n"
}

/^calls / {
    make_group()
    match($0, / : /)
    names = trim(substr($0, 6, RSTART - 6))
    role = trim(substr($0, RSTART + 3))
    split(names, words, " ")
    first = words[1]
    args = all_lines = ""
    since = even_unrecorded = 0
    is_optional = is_whole = "false"
    for (step in steps)
        n_lines[step] = 0
}
/^  args /            { args = args (args == "" ? "" : " ") trim(substr($0, 8)) }
/^  since /           { since = $2 }
/^  poll /            {
    is_optional = "true"
    remember("after", "call_polled(&call, " trim(substr($0, 8)) ")")
}
/^  like /            { copy_from($2) }
/^  optional$/        { is_optional = "true" }
/^  optional whole$/  { is_optional = is_whole = "true" }
/^  even-unrecorded$/ { even_unrecorded = saved_even[first] = 1 }
/^  (state|before|after|always) / { remember($1, trim(substr($0, 10))) }

END {
    if (failed)
        exit 1
    make_group()
    if (make == "calls")
        print "\nenum mpi_call {\n#define CALL_AS_NUMBER(name, role, is_optional, is_whole) CALL_##name,\n" \
            "    MPI_CALLS(CALL_AS_NUMBER)\n#undef CALL_AS_NUMBER\n    N_MPI_CALLS\n};\n\n#endif"
}
